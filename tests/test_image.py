"""What the Dockerfile, the release workflow and the inputs promise about the image."""

import re
from dataclasses import replace
from pathlib import Path

import yaml

from gate import __version__
from gate.github.inputs import read_inputs

ROOT = Path(__file__).parent.parent
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
RELEASE = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8"))
EXAMPLE = yaml.safe_load((ROOT / "examples/release.yml").read_text(encoding="utf-8"))


def test_the_labels_say_what_it_is_and_the_release_fills_them() -> None:
    known = dict(re.findall(r"^ARG (\w+)=(\S+)$", DOCKERFILE, re.M))
    assert known == {"VERSION": __version__, "REVISION": "unknown", "SOURCE": "unknown"}
    for label, argument in (("version", "VERSION"), ("revision", "REVISION"), ("source", "SOURCE")):
        assert f'org.opencontainers.image.{label}="${{{argument}}}"' in DOCKERFILE
    (build,) = (s for s in RELEASE["jobs"]["image"]["steps"] if s.get("id") == "build")
    given = [line.partition("=")[0] for line in build["with"]["build-args"].splitlines()]
    assert given == list(known)


def test_there_is_no_git_in_it() -> None:
    assert not re.search(r"\bapt|\bgit\b", re.sub("(?m)^#.*$", "", DOCKERFILE))


def test_its_modules_are_compiled_when_it_is_built() -> None:
    """A container starts anew for every step, and may not write what it compiled."""
    copied = DOCKERFILE.index("COPY gate ")
    assert "python -m compileall" in DOCKERFILE[copied:]
    assert "--invalidation-mode unchecked-hash" in DOCKERFILE[copied:]


def test_without_an_action_yml_the_inputs_mean_the_same() -> None:
    """`uses: docker://` knows no defaults."""
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    defaults = {
        f"INPUT_{name.upper()}": spec.get("default", "")
        for name, spec in action["inputs"].items()
        if name != "github-token"
    }
    assert replace(read_inputs({}), env={}) == replace(read_inputs(defaults), env={})


def test_only_the_job_that_releases_may_write_and_it_needs_the_gate() -> None:
    for workflow in (RELEASE, EXAMPLE):
        jobs = workflow["jobs"]
        assert "gate" in jobs["release"]["needs"]
        writers = [
            name for name, job in jobs.items() if job["permissions"].get("contents") == "write"
        ]
        assert writers == ["release"]
        assert set(jobs["gate"]["permissions"].values()) == {"read"}


def test_an_image_gets_its_name_after_it_was_tried_and_attested() -> None:
    said = [str(step.get("run") or step.get("uses")) for step in RELEASE["jobs"]["image"]["steps"]]

    def place(word: str) -> int:
        (found,) = (number for number, text in enumerate(said) if word in text)
        return found

    order = ("build-push-action", "--self-test", "attest-build-provenance", "imagetools create")
    assert [place(word) for word in order] == sorted(place(word) for word in order)
    (build,) = (s["with"] for s in RELEASE["jobs"]["image"]["steps"] if s.get("id") == "build")
    assert build["platforms"] == "linux/amd64,linux/arm64"
    assert "push-by-digest=true" in build["outputs"]
    assert (build["sbom"], build["provenance"]) == (True, "mode=max")
