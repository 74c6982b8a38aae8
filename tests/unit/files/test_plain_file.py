"""What is there and is no plain file is refused at once, and is never `none`."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from gate.errors import UsageError
from gate.files.plain_file import check_target, is_there, open_plain, read_bytes, read_if_there


def _dangling(path: Path) -> None:
    path.symlink_to(path.parent / "nowhere")


def _loop(path: Path) -> None:
    path.symlink_to(path)


def _folder(path: Path) -> None:
    path.mkdir()


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    os.chdir(path.parent)  # a socket's path is short
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path.name)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _below_a_file(path: Path) -> None:
    path.parent.rmdir()
    path.parent.write_text("a file")


def _below_nowhere(path: Path) -> None:
    path.parent.rmdir()
    path.parent.symlink_to("nowhere")


ODD = (
    *(_dangling, _loop, _folder, _pipe, _socket, _device),
    *(_below_a_file, _below_nowhere),
)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    return tmp_path / "in" / "file"


@pytest.mark.parametrize("make", ODD, ids=lambda make: make.__name__)
def test_what_is_no_plain_file_is_refused(make: Callable[[Path], None], place: Path) -> None:
    make(place)
    with pytest.raises(OSError, match=r"\w") as found:
        open_plain(place)
    assert not isinstance(found.value, FileNotFoundError)
    for read in (is_there, read_if_there):
        with pytest.raises(UsageError, match="the file"):
            read(place, "the file")
    with pytest.raises(UsageError, match="--record"):
        check_target(place, "--record")


def test_nothing_there(place: Path) -> None:
    with pytest.raises(FileNotFoundError):
        open_plain(place)
    assert not is_there(place)
    assert read_if_there(place) is None
    check_target(place, "--record")
    assert not is_there(place / "deeper" / "still")


def test_a_link_to_a_plain_file_is_one(place: Path) -> None:
    (place.parent / "it").write_bytes(b"x")
    place.symlink_to("it")
    assert is_there(place)
    assert read_bytes(place) == read_if_there(place) == b"x"
    check_target(place, "--record")


def test_names_that_no_file_can_have(tmp_path: Path) -> None:
    for name in ("a\0b", "a" * 300):
        with pytest.raises(UsageError):
            is_there(tmp_path / name)
        with pytest.raises(UsageError):
            check_target(tmp_path / name, "--out")


def test_a_file_that_may_not_be_read(place: Path) -> None:
    place.write_bytes(b"x")
    place.chmod(0)
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    with pytest.raises(UsageError, match="Permission denied"):
        read_if_there(place)
