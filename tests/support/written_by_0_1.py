"""What version 0.1 wrote, unpacked beside the project that it was written for."""

import tarfile

from tests.support.paths import DATA

WRITTEN = DATA / "written_by_0_1"


def unpack(folder):
    """Into `folder`; gives it."""
    with tarfile.open(WRITTEN / "files.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder
