import pytest

from gate.errors import InfrastructureError, UsageError
from gate.files.locked_update import alone, write_whole


def test_a_second_command_is_turned_away_and_a_later_one_is_not(tmp_path):
    lock = tmp_path / ".lock"
    with alone(lock, "busy"), pytest.raises(UsageError, match="busy"), alone(lock, "busy"):
        pass
    with alone(lock, "busy"):
        assert lock.exists()
    assert list(tmp_path.iterdir()) == []


def test_it_is_free_again_after_a_failure(tmp_path):
    with pytest.raises(ValueError, match="x"), alone(tmp_path / ".lock", "busy"):
        raise ValueError("x")
    with alone(tmp_path / ".lock", "busy"):
        pass


def test_a_file_is_written_with_the_folders_above_it_and_nothing_beside_it(tmp_path):
    path = tmp_path / "a" / "b.txt"
    write_whole(path, b"one")
    write_whole(path, b"two")
    assert path.read_bytes() == b"two"
    assert list(path.parent.iterdir()) == [path]


def test_where_nothing_can_be_written_the_file_is_named(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    path = tmp_path / "file" / "b.txt"
    with pytest.raises(UsageError, match="file is not a folder"):
        write_whole(path, b"")
    with pytest.raises(InfrastructureError, match="cannot be written"), alone(path, "busy"):
        pass
