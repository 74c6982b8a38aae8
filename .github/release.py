"""What the release workflow does to the repository (docs/decisions/0041-published-action.md).

`check`    the tag is a full version, the one of the package, and its commit is on main
`commit`   makes the commit of the release: the tagged one, with the image in action.yml;
           `--push` moves the tag there
`stamp`    writes gate/release.json: which commit `gate init` of this package pins
`major`    moves v0 (v1, ...) to the release, unless a newer version has it
`--tag` is the tag, by default that of the job. Each ends with 0, or with 1 and a sentence.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

VERSION = re.compile(r"v(\d+)\.(\d+)\.(\d+)")
IMAGE = re.compile(r"[a-z0-9.-]+/[a-z0-9._/-]+@sha256:[0-9a-f]{64}")
BUILT = "  image: Dockerfile\n"
RECORD = Path("gate/release.json")
BRANCH = "main"
WHO = "Agent Gate release"
ADDRESS = "release@agent-gate.invalid"


class Refused(Exception):
    """Why there is no release, and what to do."""


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("command", choices=("check", "commit", "stamp", "major"))
    parser.add_argument("--tag", default=os.environ.get("GITHUB_REF_NAME", ""))
    parser.add_argument("--image", help="NAME@sha256:DIGEST")
    parser.add_argument("--push", action="store_true")
    options = parser.parse_args(argv)
    try:
        version = read_version(options.tag)
        if options.command == "check":
            check(options.tag)
        elif options.command == "major":
            print(move_major(version))
        else:
            commit = make_commit(options.tag, options.image or "")
            if options.push:
                push_tag(options.tag, commit)
            if options.command == "stamp":
                write_record(options.tag, commit)
            print(commit)
    except Refused as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    return 0


def git(*arguments: str, **more: str) -> str:
    """What git prints. Raises Refused with git's own words."""
    env = {**os.environ, **more}
    done = subprocess.run(  # noqa: S603 - a fixed command
        ["git", *arguments],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
        env=env,
    )
    if done.returncode:
        raise Refused(f"git {arguments[0]}: {done.stderr.strip()}")
    return done.stdout.strip()


def read_version(tag: str) -> tuple[int, ...]:
    """`v1.2.3` as (1, 2, 3). Raises Refused for anything else."""
    found = VERSION.fullmatch(tag)
    if found is None:
        raise Refused(f"'{tag}' is not a full version such as v1.2.3: push a tag that is one")
    return tuple(map(int, found.groups()))


def check(tag: str) -> None:
    """Raises Refused if the tag is not the version of the package, or its commit is not on main."""
    text = Path("gate/__init__.py").read_text(encoding="utf-8")
    package = re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    if package is None or tag != f"v{package[1]}":
        named = package[1] if package else "missing"
        raise Refused(f"the tag is {tag}, but __version__ in gate/__init__.py is {named}")
    head = git("rev-parse", "HEAD")
    git("fetch", "--quiet", "origin", BRANCH)
    if git("merge-base", head, "FETCH_HEAD") != head:
        raise Refused(f"{head} is not on {BRANCH}: tag a commit that was merged")


def make_commit(tag: str, image: str) -> str:
    """The commit of the release on top of HEAD: the same for the same commit and image. The working
    tree stays as it is.
    """
    if not IMAGE.fullmatch(image):
        raise Refused(f"--image: '{image}' does not name an image by its digest")
    action = git("show", "HEAD:action.yml") + "\n"
    if action.count(BUILT) != 1:
        raise Refused("action.yml: expected the line `image: Dockerfile` once")
    pulled = action.replace(BUILT, f"  image: docker://{image}\n")
    done = subprocess.run(
        ["git", "hash-object", "-w", "--stdin"],  # noqa: S607
        input=pulled.encode(),
        capture_output=True,
        check=True,
    )
    index = {"GIT_INDEX_FILE": str(Path(git("rev-parse", "--absolute-git-dir"), "release-index"))}
    git("read-tree", "HEAD", **index)
    git("update-index", "--cacheinfo", f"100644,{done.stdout.decode().strip()},action.yml", **index)
    date = git("show", "--no-patch", "--format=%cI", "HEAD")
    who = {
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", WHO), ("EMAIL", ADDRESS), ("DATE", date))
    }
    message = f"Release {tag}: action.yml names the image"
    tree = git("write-tree", **index)
    return git("commit-tree", tree, "-p", "HEAD", "-m", message, **who)


def tags_there() -> dict[str, tuple[str, str]]:
    """Name of each tag of the remote -> (what the ref holds, the commit behind it)."""
    found: dict[str, tuple[str, str]] = {}
    for line in git("ls-remote", "--tags", "origin").splitlines():
        sha, _, ref = line.partition("\t")
        name = ref.removeprefix("refs/tags/")
        if name.endswith("^{}"):  # an annotated tag, whose commit comes second
            name = name.removesuffix("^{}")
            found[name] = (found[name][0], sha)
        else:
            found[name] = (sha, sha)
    return found


def push_tag(tag: str, commit: str) -> None:
    """Moves the tag from the commit that started the workflow to the commit of the release; again
    is no change. Raises Refused if the tag is anywhere else.
    """
    held, there = tags_there().get(tag, ("", ""))
    if there == commit:
        return
    if there != git("rev-parse", "HEAD"):
        where = f"is at {there}" if there else "is gone"
        raise Refused(
            f"{tag} {where}, which is not the commit that was tested: a version that is published "
            "never changes, so release the next one"
        )
    lease = f"--force-with-lease=refs/tags/{tag}:{held}"
    git("push", "--quiet", lease, "origin", f"{commit}:refs/tags/{tag}")


def write_record(tag: str, commit: str) -> None:
    record = {"version": tag.removeprefix("v"), "commit": commit}
    RECORD.write_text(json.dumps(record) + "\n", encoding="utf-8")


def move_major(version: tuple[int, ...]) -> str:
    """Moves the tag of the major version; gives what was done."""
    there = tags_there()
    full = {read_version(name): name for name in there if VERSION.fullmatch(name)}
    if version not in full:
        raise Refused(f"v{'.'.join(map(str, version))} is not there: push it first")
    newest, major = max(one for one in full if one[0] == version[0]), f"v{version[0]}"
    if newest != version:
        return f"{major} stays at {full[newest]}, which is newer"
    commit, (held, now) = there[full[version]][1], there.get(major, ("", ""))
    if now != commit:
        lease = f"--force-with-lease=refs/tags/{major}:{held}"
        git("fetch", "--quiet", "origin", f"refs/tags/{full[version]}")
        git("push", "--quiet", lease, "origin", f"{commit}:refs/tags/{major}")
    return f"{major} is {full[version]}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
