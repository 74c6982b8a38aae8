"""What version 0.1 wrote, unpacked beside the project that it was written for."""

import tarfile

from tests.support.paths import DATA

WRITTEN = DATA / "written_by_0_1"
ENDED_EARLY = DATA / "ended_early_in_0_1"  # a release


def unpack(folder, data=WRITTEN):
    """Into `folder`; gives it."""
    with tarfile.open(data / "files.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder
