"""A folder as a zip: the same bytes each time, regular files only, names that others can unpack."""

from __future__ import annotations

import os
import shutil
import socket
import time
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from gate.agents.task_folder import make_folder
from gate.errors import UsageError
from gate.github.pack import MAX_BYTES, open_zip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "session"
    (made / "b").mkdir(parents=True)
    (made / "a.json").write_bytes(b"A" * 5000)
    (made / "b" / "c.txt").write_bytes(b"C")
    return made


def zipped(folder: Path) -> bytes:
    with open_zip(folder) as file:
        return file.read()


def test_the_same_files_give_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    first = zipped(folder)
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    (copy / "a.json").chmod(0o600)
    os.utime(copy / "a.json", (time.time() - 99_999, time.time() - 99_999))
    assert zipped(copy) == first
    (copy / "a.json").write_bytes(b"B")
    assert zipped(copy) != first


def test_names_are_relative_and_contents_compressed(folder: Path) -> None:
    with zipfile.ZipFile(BytesIO(zipped(folder))) as archive:
        assert archive.namelist() == ["a.json", "b/c.txt"]
        assert archive.read("a.json") == b"A" * 5000
        assert archive.getinfo("a.json").compress_size < 100


def test_what_a_server_wrote_for_its_task_is_left_out(folder: Path) -> None:
    (make_folder(folder, "FI-2") / "scratch" / "a:b?.md").write_bytes(b"of the server")
    with zipfile.ZipFile(BytesIO(zipped(folder))) as archive:
        assert archive.namelist() == ["a.json", "b/c.txt"]


def test_links_and_sockets_are_left_out_and_not_followed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").write_bytes(b"key")
    (folder / "file").symlink_to(tmp_path / "secret" / "key")
    (folder / "inside").symlink_to(tmp_path / "secret")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(folder / "socket"))  # a whole path can be too long for one
    with zipfile.ZipFile(BytesIO(zipped(folder))) as archive:
        assert archive.namelist() == ["a.json", "b/c.txt"]


def test_nothing_is_left_beside_the_folder(folder: Path, tmp_path: Path) -> None:
    zipped(folder)
    assert list(tmp_path.iterdir()) == [folder]


@pytest.mark.parametrize("name", ["a:b", "a?b", "a\nb", "a\\b"])
def test_a_name_that_others_cannot_unpack_is_refused(folder: Path, name: str) -> None:
    (folder / name).write_bytes(b"")
    with pytest.raises(UsageError, match="is not allowed in an artifact"):
        zipped(folder)


def test_a_folder_that_is_too_large_is_refused_before_it_is_read(folder: Path) -> None:
    with (folder / "huge").open("wb") as file:
        file.truncate(MAX_BYTES)
    with pytest.raises(UsageError, match="larger than 1024 MB"):
        zipped(folder)
