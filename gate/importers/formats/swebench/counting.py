"""How many instances count, and whether that is what the variant and a published score say."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from gate.agents.traces.values import at
from gate.errors import InvalidInput, Place
from gate.files.json_values import as_amount
from gate.files.plain import json_lines, json_of, plain
from gate.files.problems import Findings
from gate.files.yaml import parse
from gate.importers.formats.swebench.outcomes import InstanceVerdict, SourceVerdicts
from gate.importers.formats.swebench.variants import (
    CUSTOM,
    DecidedVariant,
    Variant,
    decide,
    strangers,
    variant_of,
)
from gate.importers.trials.instance_ids import is_id
from gate.records import Json
from gate.text.escaping import one_line

_MOST_YAML = 1 << 20  # bytes
_NAME_ALL = "name a file with the ids of all with --option instances=FILE"


def read_ids(path: Path) -> frozenset[str]:
    """The ids in a file: JSON (a list of ids or of rows), JSON Lines (a row a line), or text (an id
    a line). Raises InvalidInput, UsageError.
    """
    findings = Findings()
    found: dict[str, None] = {}
    for place, item in _items(path, findings):
        instance = item.get("instance_id") if isinstance(item, dict) else item
        if not is_id(instance):
            findings.add(place, "no id of an instance - write one a line, or rows of the dataset")
        elif instance in found:
            findings.add(place, f"{instance} is there twice - keep one")
        else:
            found[instance] = None
    if not found:
        findings.add(Place(path.as_posix()), "no id of an instance in it")
    findings.refuse()
    return frozenset(found)


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
    verdicts: Mapping[str, InstanceVerdict],
    main: SourceVerdicts | None,
    whole_known: bool,
    variant: str | None,
    run: tuple[str, str],
    findings: Findings,
) -> DecidedVariant:
    """The variant, with its number of instances checked. `whole_known`: somebody names all of them.
    `run`: dataset and split, as run.json names them.
    """
    place = main.place if main else Place("report.json")
    n, stated = len(verdicts), main.total if main else None
    chosen = stated if stated is not None else n if whole_known else None
    decided = decide(verdicts.keys(), variant, run[0], run[1], chosen)
    told = decided.variant
    own = variant_of(run[0]) if run[0] else CUSTOM
    if variant not in (None, "custom") and own not in (CUSTOM, told):
        message = f"run.json names {own.title}, the option {told.title} - leave the option out"
        findings.add(place, message)
    if stated is not None and n < stated:
        message = f"counts {stated} instances and names {n} - {_NAME_ALL}"
        findings.add(Place(place.file, key="total_instances"), message)
    elif main and main.rest == "unresolved" and not whole_known:
        message = f"names {n} instances, and not those that nobody resolved - {_NAME_ALL}"
        findings.add(place, message)
    elif decided.wanted is not None and n != decided.wanted:
        findings.add(place, _other_number(told, n, decided, open_end=chosen is None))
    elif wrong := strangers(told, verdicts.keys()):
        message = f"{wrong[0]} and {len(wrong) - 1} more are none of {told.title}'s repositories"
        findings.add(place, f"{message} - name another variant with --option variant=")
    return decided


def _other_number(told: Variant, n: int, decided: DecidedVariant, *, open_end: bool) -> str:
    size = decided.wanted or 0
    if open_end and n < size:
        return (
            f"{told.title} has {size} instances ({decided.why}), and {n} are named: the others "
            f"count as not resolved - {_NAME_ALL}, or say that these are all with --option "
            "variant=custom"
        )
    return (
        f"{told.title} has {size} instances ({decided.why}), here are {n} - name another variant "
        "with --option variant=, `custom` for a set of one's own"
    )


def check_declared(
    verdicts: Mapping[str, InstanceVerdict],
    declared: float | None,
    metadata: Path | None,
    file: str,
    findings: Findings,
) -> None:
    """A score that was published beside the verdicts, in percent, to the digits that it has."""
    resolved = sum(verdict.outcome == "resolved" for verdict in verdicts.values())
    n = max(1, len(verdicts))
    share = 100 * resolved / n
    sources = [(Place("--option declared"), declared)]
    if metadata is not None:
        sources.append(
            (Place(metadata.as_posix(), key="resolved"), _read_published(metadata, findings))
        )
    for place, score in sources:
        if score is not None and abs(score - share) > _rounding(score):
            findings.add(
                place,
                f"says {score:g} %, but {file} has {resolved} of {n} resolved, {share:.2f} % - one "
                "of the two is stale or of another run: import the harness's own report",
            )


def _rounding(score: float) -> float:
    """Half of the last digit that was written, of one at least."""
    return (0.05 if round(score, 1) == score else 0.005) + 1e-9


def _read_published(metadata: Path, findings: Findings) -> float | None:
    name = metadata.as_posix()
    if plain(metadata).stat().st_size > _MOST_YAML:
        findings.add(Place(name), f"larger than {_MOST_YAML >> 20} MB - take it out")
        return None
    try:
        data = parse(metadata.read_bytes(), name).data
    except InvalidInput as error:
        findings.take(*error.problems)
        return None
    told = at(data, "info", "resolved")
    told = at(data, "resolved") if told is None else told
    score = as_amount(told)
    if told is not None and (score is None or score > 100):
        shown = one_line(str(told), 40)
        findings.add(Place(name, key="resolved"), f"'{shown}' is no percentage - take it out")
        return None
    return score
