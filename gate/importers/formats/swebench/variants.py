"""The variants of SWE-bench, and which of them a set of instances is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal

from gate.importers.trials.instance_ids import repository_of
from gate.importers.trials.published_scores import SWEBENCH_VERIFIED
from gate.records import QuotedValue
from gate.text.escaping import one_line

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
            purpose="the whole benchmark, slow and dear: for a figure that is to be published",
            sizes={"test": 2294, "dev": 225},
            aliases=("swe-bench", "full"),
            repositories=PYTHON,
        ),
        Variant(
            name="verified",
            title="SWE-bench Verified",
            purpose="people checked that each can be solved: the one that results are compared on",
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
            purpose="9 languages, 42 repositories: whether an agent knows more than Python",
            sizes={"test": 300},
            aliases=("swe-bench_multilingual", "multilingual"),
        ),
        Variant(
            name="multimodal",
            title="SWE-bench Multimodal",
            purpose="issues with pictures, of JavaScript: whether an agent sees what is shown",
            sizes={"test": 500, "dev": 100},
            aliases=("swe-bench_multimodal", "multimodal"),
        ),
    )
}
CUSTOM = Variant(name="custom", title="SWE-bench, a set of one's own", purpose="")


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
    """By option, then by the dataset that run.json names, then by number and repositories.
    `chosen`: how many instances a run report says were to be done.
    """
    if option is not None:
        return _size_variant(VARIANTS.get(option, CUSTOM), instances, "as the option says", split)
    if dataset:
        told = variant_of(dataset)
        shown = f"run.json names {one_line(dataset, 100)}"
        if told is CUSTOM:
            return DecidedVariant(variant=CUSTOM, why=shown)
        whole = told.sizes.get(split or "test")
        if chosen is not None and whole is not None and chosen < whole:
            return DecidedVariant(
                variant=CUSTOM, why=shown, part_of=f"{whole} instances of {told.title}"
            )
        return _size_variant(told, instances, shown, split)
    found = _by_size(instances)
    return DecidedVariant(
        variant=found,
        why=f"taken for it by {len(instances)} instances and their repositories"
        if found is not CUSTOM
        else "",
    )


def _size_variant(
    variant: Variant, instances: Collection[str], why: str, split: str
) -> DecidedVariant:
    """With the size of its split; where none is told any of them will do."""
    sizes, n = variant.sizes, len(instances)
    wanted = sizes.get(split) or (n if n in sizes.values() else sizes.get("test"))
    return DecidedVariant(variant=variant, why=why, wanted=wanted)


def variant_of(dataset: str) -> Variant:
    """`SWE-bench/SWE-bench_Lite`, `princeton-nlp/SWE-bench`, `lite`."""
    owner, _, name = dataset.casefold().rpartition("/")
    known = owner in ("", "swe-bench", "princeton-nlp")
    return next((one for one in VARIANTS.values() if known and name in one.aliases), CUSTOM)


def _by_size(instances: Collection[str]) -> Variant:
    """Only where the repositories leave no doubt: 300 are Lite or Multilingual, 500 Verified or
    Multimodal.
    """
    repositories = {repository_of(one) for one in instances}
    if repositories <= PYTHON:
        for one in VARIANTS.values():
            if one.repositories and len(instances) == one.sizes["test"]:
                return one
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
    known = variant.repositories
    return sorted(
        instance
        for instance in instances
        if (
            repository_of(instance) in PYTHON
            if known is None
            else repository_of(instance) not in known
        )
    )


def repositories(instances: Collection[str]) -> Counter[str]:
    return Counter(filter(None, map(repository_of, instances)))
