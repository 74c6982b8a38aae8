"""The variants of SWE-bench: which one a set of instances is, and how many must be there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from gate.agents.traces.values import at
from gate.errors import Place
from gate.files.json_values import as_amount
from gate.files.plain import json_lines, json_of, plain
from gate.files.problems import Findings
from gate.files.yaml import yaml_of
from gate.importers.formats.swebench.outcomes import SourceVerdicts, Verdicts
from gate.importers.trials.names import is_id, repository_of
from gate.importers.trials.published_scores import SWEBENCH_VERIFIED
from gate.records import Json, QuotedValue
from gate.text.shortening import tidy

Name = Literal["full", "verified", "lite", "multilingual", "multimodal", "custom"]

# Of Full, Verified and Lite, which are parts of one another.
PYTHON = frozenset(
    {"astropy/astropy", "django/django", "matplotlib/matplotlib", "mwaskom/seaborn"}
    | {"pallets/flask", "psf/requests", "pydata/xarray", "pylint-dev/pylint"}
    | {"pytest-dev/pytest", "scikit-learn/scikit-learn", "sphinx-doc/sphinx", "sympy/sympy"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """`sizes`: split -> how many instances it has."""

    name: Name
    title: str
    purpose: str
    sizes: Mapping[str, int] = field(default_factory=dict)
    aliases: tuple[str, ...] = ()  # what a dataset's name ends in, without case
    repositories: frozenset[str] | None = None  # None: others than those of PYTHON
    quoted: tuple[QuotedValue, ...] = ()


VARIANTS: Mapping[str, Variant] = {
    one.name: one
    for one in (
        Variant(
            name="full",
            title="SWE-bench Full",
            purpose="the whole benchmark, slow and expensive: for results to be published",
            sizes={"test": 2294, "dev": 225},
            aliases=("swe-bench", "full"),
            repositories=PYTHON,
        ),
        Variant(
            name="verified",
            title="SWE-bench Verified",
            purpose="checked by people to be solvable: most results are published for this one",
            sizes={"test": 500},
            aliases=("swe-bench_verified", "verified"),
            repositories=PYTHON,
            quoted=SWEBENCH_VERIFIED,
        ),
        Variant(
            name="lite",
            title="SWE-bench Lite",
            purpose="smaller, self-contained issues: for a faster loop while an agent is built",
            sizes={"test": 300, "dev": 23},
            aliases=("swe-bench_lite", "lite"),
            repositories=PYTHON,
        ),
        Variant(
            name="multilingual",
            title="SWE-bench Multilingual",
            purpose="9 languages, 42 repositories: tests whether an agent knows more than Python",
            sizes={"test": 300},
            aliases=("swe-bench_multilingual", "multilingual"),
        ),
        Variant(
            name="multimodal",
            title="SWE-bench Multimodal",
            purpose="JavaScript issues with pictures: tests whether an agent understands pictures",
            sizes={"test": 500, "dev": 100},
            aliases=("swe-bench_multimodal", "multimodal"),
        ),
    )
}
CUSTOM = Variant(name="custom", title="SWE-bench, your own set", purpose="")


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedVariant:
    """`why`: for a note. `wanted`: how many instances it must have; None: as many as there are."""

    variant: Variant
    why: str = ""
    wanted: int | None = None
    part_of: str = ""  # of what fewer instances were chosen than it has


def decide(
    instances: Collection[str], option: str | None, dataset: str, split: str, chosen: int | None
) -> DecidedVariant:
    """The variant by option, dataset of run.json, or size. `chosen`: the report's own number."""
    if option is not None:
        variant = VARIANTS.get(option, CUSTOM)
        return _size_variant(variant, instances, "set by --option variant", split)
    if not dataset:
        variant = _by_size(instances)
        why = f"recognised by its {len(instances)} instances and their repositories"
        return DecidedVariant(variant=variant, why="" if variant is CUSTOM else why)
    variant, why = variant_of(dataset), f"run.json names {tidy(dataset, 100)}"
    if variant is CUSTOM:
        return DecidedVariant(variant=CUSTOM, why=why)
    whole = variant.sizes.get(split or "test")
    if chosen is not None and whole is not None and chosen < whole:
        part_of = f"{whole} instances of {variant.title}"
        return DecidedVariant(variant=CUSTOM, why=why, part_of=part_of)
    return _size_variant(variant, instances, why, split)


def _size_variant(
    variant: Variant, instances: Collection[str], why: str, split: str
) -> DecidedVariant:
    """A variant with the size of its split; without a split any size of it will do."""
    sizes, n = variant.sizes, len(instances)
    wanted = sizes.get(split) or (n if n in sizes.values() else sizes.get("test"))
    return DecidedVariant(variant=variant, why=why, wanted=wanted)


def variant_of(dataset: str) -> Variant:
    """`SWE-bench/SWE-bench_Lite`, `princeton-nlp/SWE-bench`, `lite`."""
    owner, _, name = dataset.casefold().rpartition("/")
    known = owner in ("", "swe-bench", "princeton-nlp")
    return next((one for one in VARIANTS.values() if known and name in one.aliases), CUSTOM)


def _by_size(instances: Collection[str]) -> Variant:
    """Only if the repositories leave no doubt: two variants have 300, and two 500."""
    repositories = {repository_of(instance) for instance in instances}
    if repositories <= PYTHON:
        for variant in VARIANTS.values():
            if variant.repositories and len(instances) == variant.sizes["test"]:
                return variant
    languages = VARIANTS["multilingual"]
    if len(instances) == languages.sizes["test"] and len(repositories & LANGUAGES) >= _ENOUGH:
        return languages
    return CUSTOM


# Some of Multilingual's repositories, one a language at least.
LANGUAGES = frozenset(
    {"redis/redis", "jqlang/jq", "fmtlib/fmt", "nlohmann/json", "caddyserver/caddy"}
    | {"gin-gonic/gin", "prometheus/prometheus", "gohugoio/hugo", "hashicorp/terraform"}
    | {"apache/druid", "apache/lucene", "google/gson", "projectlombok/lombok", "axios/axios"}
    | {"babel/babel", "preactjs/preact", "vuejs/core", "laravel/framework", "jekyll/jekyll"}
    | {"rubocop/rubocop", "fastlane/fastlane", "astral-sh/ruff", "tokio-rs/tokio"}
    | {"nushell/nushell", "sharkdp/bat", "uutils/coreutils"}
)
_ENOUGH = 20  # of them


def strangers(variant: Variant, instances: Collection[str]) -> list[str]:
    """Instances of repositories that the variant does not have, sorted."""
    if variant is CUSTOM:
        return []
    if variant.repositories is None:
        return sorted(one for one in instances if repository_of(one) in PYTHON)
    return sorted(one for one in instances if repository_of(one) not in variant.repositories)


def repositories(instances: Collection[str]) -> Counter[str]:
    return Counter(filter(None, map(repository_of, instances)))


# ----------------------------------------------------------------------------------------- counting


_MOST_YAML = 1 << 20  # bytes
_NOT_NEEDED = f"larger than {_MOST_YAML >> 20} MB, and not needed - move it out of the folder"
_NAME_ALL = "add --option instances=FILE, a file with the ids of all instances"


def read_ids(path: Path) -> frozenset[str]:
    """The ids in a file of JSON, JSON Lines or text. Raises InvalidInput, UsageError."""
    findings = Findings()
    ids: dict[str, None] = {}
    for place, item in _items(path, findings):
        instance = item.get("instance_id") if isinstance(item, dict) else item
        if not is_id(instance):
            message = "not an instance id - give a file with one id per line, or dataset rows"
            findings.add(place, message)
        elif instance in ids:
            findings.add(place, f"{instance} appears twice - keep one")
        else:
            ids[instance] = None
    if not ids:
        findings.add(Place(path.as_posix()), "has no instance id")
    findings.refuse()
    return frozenset(ids)


def _items(path: Path, findings: Findings) -> list[tuple[Place, Json]]:
    name = plain(path).as_posix()
    if path.suffix.lower() == ".json":
        data = json_of(path)
        rows = data if isinstance(data, list) else [data]
        return [(Place(name, key=f"[{n}]"), row) for n, row in enumerate(rows)]
    if path.suffix.lower() == ".jsonl":
        return [(line.place, line.data) for line in findings.keep_good(json_lines(path))]
    texts = path.read_bytes().decode("utf-8-sig", "replace").splitlines()
    return [(Place(name, n), text.strip()) for n, text in enumerate(texts, 1) if text.strip()]


def decide_variant(
    verdicts: Verdicts,
    main: SourceVerdicts,
    whole_known: bool,
    variant: str | None,
    run: tuple[str, str],
    findings: Findings,
) -> DecidedVariant:
    """The variant, its size checked. `run`: dataset and split as run.json names them."""
    place, n, stated = main.place, len(verdicts), main.total
    chosen = stated if stated is not None else n if whole_known else None
    decided = decide(verdicts.keys(), variant, run[0], run[1], chosen)
    told = decided.variant
    own = variant_of(run[0]) if run[0] else CUSTOM
    if variant not in (None, "custom") and own not in (CUSTOM, told):
        message = (
            f"run.json names {own.title}, but --option variant names {told.title} - remove the "
            "option"
        )
        findings.add(place, message)
    if stated is not None and n < stated:
        message = f"counts {stated} instances, but names {n} - {_NAME_ALL}"
        findings.add(Place(place.file, key="total_instances"), message)
    elif main.rest == "unresolved" and not whole_known:
        message = f"names {n} instances, but not the unresolved ones - {_NAME_ALL}"
        findings.add(place, message)
    elif decided.wanted is not None and n != decided.wanted:
        findings.add(place, _other_number(told, n, decided, open_end=chosen is None))
    elif wrong := strangers(told, verdicts.keys()):
        message = f"{wrong[0]} and {len(wrong) - 1} more are not in {told.title}"
        findings.add(place, f"{message} - choose another variant with --option variant=NAME")
    return decided


def _other_number(told: Variant, n: int, decided: DecidedVariant, *, open_end: bool) -> str:
    size = decided.wanted or 0
    if open_end and n < size:
        return (
            f"{told.title} has {size} instances ({decided.why}), but only {n} are named: "
            f"the others count as not resolved - {_NAME_ALL}, or use --option "
            "variant=custom if these are all"
        )
    return (
        f"{told.title} has {size} instances ({decided.why}), but these results have {n} - choose "
        "a different variant with --option variant=NAME, `custom` for your own set"
    )


def check_declared(
    verdicts: Verdicts, declared: float | None, metadata: Path | None, file: str, findings: Findings
) -> None:
    """A score that was published beside the verdicts, in percent, to the digits that it has."""
    resolved = sum(verdict.outcome == "resolved" for verdict in verdicts.values())
    n = max(1, len(verdicts))
    share = 100 * resolved / n
    sources = {Place("--option declared"): declared}
    if metadata is not None:
        sources[Place(metadata.as_posix(), key="resolved")] = _read_published(metadata, findings)
    for place, score in sources.items():
        if score is not None and abs(score - share) > _rounding(score):
            findings.add(
                place,
                f"says {score:g} %, but {file} has {resolved} of {n} resolved, {share:.2f} % - one "
                "of the two is out of date or of another run; import the harness's own report",
            )


def _rounding(score: float) -> float:
    """Half of the last digit that was written, of one at least."""
    return (0.05 if round(score, 1) == score else 0.005) + 1e-9


def _read_published(metadata: Path, findings: Findings) -> float | None:
    data: Json = None
    with findings.taking():
        data = yaml_of(metadata, _MOST_YAML, _NOT_NEEDED).data
    stated = at(data, "info", "resolved")
    stated = at(data, "resolved") if stated is None else stated
    score = as_amount(stated)
    if stated is not None and (score is None or score > 100):
        shown = tidy(str(stated), 40)
        place = Place(metadata.as_posix(), key="resolved")
        findings.add(place, f"'{shown}' is not a percentage - correct the value, or remove it")
        return None
    return score
