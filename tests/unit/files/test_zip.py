"""Archives of nobody one trusts: what is read of them, and what is refused before it is."""

import io
import stat
import struct
import zipfile

import pytest

from gate.errors import InvalidInput, UsageError
from gate.files.zip import open_archive


def packed(path, members, **options):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, **options) as zipped:
        for name, content in members:
            zipped.writestr(name, content)
    return path


def contents(path):
    with open_archive(path) as zipped:
        return [zipped.read(name) for name in zipped.members]


def refused(path):
    with pytest.raises(UsageError) as caught:
        contents(path)
    return str(caught.value)


def test_members_are_read_by_name_and_folders_are_none(tmp_path):
    path = packed(tmp_path / "a.zip", [("b/", b""), ("b/c.json", b"{}"), ("d", b"x" * 99)])
    with open_archive(path) as zipped:
        assert [*zipped.members] == ["b/c.json", "d"]
        assert (zipped.read("b/c.json"), zipped.read("d")) == (b"{}", b"x" * 99)
        assert str(zipped.place("d")) == f"{path}: d"


@pytest.mark.parametrize("name", ["../up", "a/../../b", "/root", "..\\up", "C:x", "a\nb"])
def test_a_name_that_leads_elsewhere_is_refused(tmp_path, name):
    path = packed(tmp_path / "a.zip", [("fine", b"1"), (name, b"2")])
    with pytest.raises(InvalidInput, match="points outside the archive"), open_archive(path):
        pass


def test_the_last_of_two_members_of_one_name_counts(tmp_path):
    with pytest.warns(UserWarning, match="Duplicate"):
        path = packed(tmp_path / "a.zip", [("a", b"old"), ("a", b"new"), ("b", b"1")])
    with open_archive(path) as zipped:
        assert (zipped.read("a"), zipped.rewritten) == (b"new", 1)


def test_links_and_methods_that_nobody_needs_are_refused_all_at_once(tmp_path):
    link = zipfile.ZipInfo("link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as zipped:
        zipped.writestr(link, "/etc/passwd")
        zipped.writestr("bzip", b"1", zipfile.ZIP_BZIP2)
    message = refused(tmp_path / "a.zip")
    assert "a.zip: link: a symbolic link, which is not followed" in message
    assert "a.zip: bzip: compression method 12 is not supported" in message


def test_a_password_is_not_asked_for(tmp_path):
    path = packed(tmp_path / "a.zip", [("a", b"1")])
    content = bytearray(path.read_bytes())
    listed = content.index(b"PK\x01\x02")
    content[listed + 8] |= 1  # the flag of the list
    path.write_bytes(content)
    assert "encrypted" in refused(path)


def test_what_unpacks_to_far_more_than_it_is_is_refused_unread(tmp_path):
    path = tmp_path / "a.zip"
    packed(path, [("bomb", b"1")])
    content = bytearray(path.read_bytes())
    size = content.index(b"PK\x01\x02") + 24
    content[size : size + 4] = struct.pack("<L", 400 << 20)
    path.write_bytes(content)
    assert "3 bytes unpack to 419,430,400, a zip bomb" in refused(path)
    content[size : size + 4] = struct.pack("<L", 900 << 20)
    path.write_bytes(content)
    assert "512 MB is the limit per file" in refused(path)


@pytest.mark.parametrize("declared", [1, 70])
def test_a_member_that_holds_more_or_less_than_it_declares_is_refused(tmp_path, declared):
    path = packed(tmp_path / "a.zip", [("a", b"0123456789" * 6)])
    content = bytearray(path.read_bytes())
    size = content.index(b"PK\x01\x02") + 24
    content[size : size + 4] = struct.pack("<L", declared)
    path.write_bytes(content)
    assert "copy it again" in refused(path)


def test_members_over_each_other_are_refused(tmp_path):
    """One packed member that many entries of the list share multiplies it."""
    path = packed(tmp_path / "a.zip", [("a", bytes(range(256)))])
    whole = path.read_bytes()
    listed, end = whole.index(b"PK\x01\x02"), whole.index(b"PK\x05\x06")
    entry = whole[listed:end]
    copies = [entry[:46] + bytes([ord("a") + n]) for n in range(20)]
    tail = bytearray(whole[end:])
    tail[8:12] = struct.pack("<HH", 20, 20)
    tail[12:16] = struct.pack("<L", 20 * len(entry))
    path.write_bytes(whole[:listed] + b"".join(copies) + bytes(tail))
    message = refused(path)
    assert "files overlap" in message


def test_an_archive_that_is_cut_off_or_none_is_refused(tmp_path):
    path = packed(tmp_path / "a.zip", [("a", b"0123456789" * 99)])
    whole = path.read_bytes()
    for content in (whole[:-30], whole[: len(whole) // 2], b"", b"PK\x03\x04"):
        path.write_bytes(content)
        assert "its end is missing; copy it again" in refused(path)
    path.write_bytes(whole[60:])
    assert "copy it again" in refused(path)


def test_a_list_of_members_that_would_fill_the_memory_is_refused(tmp_path):
    path = packed(tmp_path / "a.zip", [("a", b"1")])
    content = bytearray(path.read_bytes())
    end = content.index(b"PK\x05\x06")
    content[end + 12 : end + 16] = struct.pack("<L", 1 << 30)
    path.write_bytes(content)
    assert "its file list has 1,073,741,824 bytes" in refused(path)


def test_an_archive_within_an_archive_stays_bytes(tmp_path):
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as zipped:
        zipped.writestr("../up", b"1")
    path = packed(tmp_path / "a.zip", [("inner.zip", inner.getvalue())])
    with open_archive(path) as zipped:
        assert zipped.read("inner.zip") == inner.getvalue()


def test_a_link_to_an_archive_is_not_followed(tmp_path):
    packed(tmp_path / "a.zip", [("a", b"1")])
    (tmp_path / "b.zip").symlink_to("a.zip")
    assert "a symbolic link, which is not followed" in refused(tmp_path / "b.zip")
