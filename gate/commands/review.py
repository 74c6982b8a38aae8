"""`gate review sample | import | agreement`: people rate answers, and the judge is compared with
them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import cache, partial
from pathlib import Path

from gate.analysis import labels
from gate.commands.label_review import form, manifest, raw_answer, sheet
from gate.commands.label_review.checking import check_ratings
from gate.commands.label_review.criteria import criteria_of
from gate.commands.label_review.manifest import Manifest, check_period, last_cycles, read_history
from gate.commands.label_review.merging import Merged, merge, render
from gate.commands.label_review.sample import choose_suite, draw, period_of, trials_of
from gate.commands.options.records import find_stored, home_of, own_config, page_width
from gate.errors import InvalidInput, Place, Problem, UsageError
from gate.files.locked_update import alone, write_whole
from gate.files.plain_file import is_there, open_plain
from gate.files.rows import DatasetSource
from gate.graders.rubrics.built_in import rubrics_of
from gate.plugins import Grader
from gate.records import Case, Label
from gate.records.codec import to_json
from gate.records.labels import Checked
from gate.report.wording.agreement import blocks
from gate.report.wording.blocks import markdown_of, text_of
from gate.run.grade import make_graders
from gate.run.judge_labels import LabelReview, file_of, judged_suite_of, least_of, review_labels
from gate.run.prepare import Selection, prepare
from gate.store.event_log import SURROGATES
from gate.store.session import Session, load_session
from gate.store.session_check import check_rows
from gate.suites.cases.dataset import cases
from gate.suites.config.load import select
from gate.suites.protection.rules import Rules, load_own_config
from gate.text.escaping import plain
from gate.text.figures import count

LABELS = "labels.jsonl"
FILES = {
    ".html": "the form, for any browser",
    ".csv": "the same questions as a spreadsheet",
    ".json": "the selected cases; commit this file",
}
STRATA = {
    "uncertain": "about which the judge is less certain",
    "sure": "about which it is more certain",
}
WIDTH = 130
EMPTY = "contains no ratings; fill it in and save it first"


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Runs the sub-command and returns its exit code. `options`: action, reviews and those of the
    action.
    """
    return ACTIONS[options.action](options, env)


# ------------------------------------------------------------------------------------------ sample


def sample(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Writes manifest, form and sheet of a period; the same command writes the same files."""
    session = load_session(find_stored(options.session))
    deque(check_rows(session.rows(), session.meta.suites, session.folder), maxlen=0)
    suite = choose_suite(session.meta, options.suite)
    period = check_period(options.period or period_of(session.meta.created_at))
    path = Path(options.reviews) / f"{period}.json"
    material = _material(options, env, suite)
    drawn = _read_earlier_sample(path, session, suite, options) if is_there(path) else None
    drawn = drawn or draw(
        session.meta,
        session.rows,
        suite=suite,
        period=period,
        asked=criteria_of(session.meta.suites[suite], rubrics_of(material.graders.values())),
        seen=last_cycles(read_history(path.parent, suite)),
        size=options.size,
    )
    cards = _cards(drawn, session, material)
    write_whole(path, manifest.render(drawn).encode("utf-8", SURROGATES))
    write_whole(path.with_suffix(".html"), form.render(drawn, cards).encode("utf-8", SURROGATES))
    write_whole(path.with_suffix(".csv"), sheet.render(drawn, cards).encode("utf-8", SURROGATES))
    _tell_sample(drawn, path)
    return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Material:
    """What gate.yml and the dataset add to a session: rubrics, and what a right answer is."""

    graders: Mapping[str, Grader] = field(default_factory=dict)
    source: DatasetSource | None = None

    def cases(self) -> Iterator[Case]:
        return iter(()) if self.source is None else cases(self.source, self.graders)


def _material(options: argparse.Namespace, env: Mapping[str, str], suite: str) -> _Material:
    """Nothing where no gate.yml has the suite, unless it is one that was named."""
    config, root = own_config(options, env)
    try:
        chosen_suite = select(config, [suite]).suites[0]
    except UsageError:
        if options.config:
            raise
        return _Material()
    rules = Rules(config=config, own=config, root=root)
    graders = make_graders(chosen_suite.graders, root)
    return _Material(graders=graders, source=rules.head_source(chosen_suite))


def _read_earlier_sample(
    path: Path, session: Session, suite: str, options: argparse.Namespace
) -> Manifest | None:
    """The sample that was drawn before by the same command; raises UsageError for another one's."""
    earlier = manifest.read(path)
    request = (suite, session.meta.session_id, options.size)
    if (earlier.suite, earlier.session_id, earlier.size) == request:
        return earlier
    raise UsageError(
        f"{path}: this period already has a sample of {earlier.size} from suite "
        f"'{earlier.suite}' of "
        f"session {earlier.session_id}; choose another period with --period, e.g. "
        f"{earlier.period}-2"
    )


def _cards(
    sample_manifest: Manifest, session: Session, material: _Material
) -> tuple[form.Card, ...]:
    wanted = {(case.case_id, case.case_digest) for case in sample_manifest.cases}
    written = {(c.id, c.digest): c for c in material.cases() if (c.id, c.digest) in wanted}
    trials = zip(sample_manifest.cases, trials_of(sample_manifest, session.rows()), strict=True)
    rubrics = [case for case in rubrics_of(material.graders.values()) if not case.compare_with]
    keys = dict.fromkeys(key for rubric in rubrics for key in rubric.read)
    return tuple(
        form.make_card(number, case, row, written.get((case.case_id, case.case_digest)), keys)
        for number, (case, row) in enumerate(trials, start=1)
    )


def _tell_sample(drawn: Manifest, path: Path) -> None:
    for suffix, what in FILES.items():
        print(plain(f"{path.with_suffix(suffix)}: {what}"))
    strata = drawn.strata
    shares = [
        f"{stratum.shown} of {stratum.cases} {STRATA.get(n, n)}" for n, stratum in strata.items()
    ]
    parts = f" ({', '.join(shares)})" if len(strata) > 1 else ""
    total = sum(stratum.cases for stratum in strata.values())
    missing = [f"{n} with {why}" for why, n in drawn.left_out.items()]
    summary = f"{len(drawn.cases):,} of {count(total, 'case')} of suite '{drawn.suite}'{parts}"
    print(plain(summary + (f"; left out: {', '.join(missing)}" if missing else "")))
    print("Next: send the form to the reviewers, then `gate review import` what they save.")


# ------------------------------------------------------------------------------------------ import


def import_labels(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Adds the valid ratings and reports the others; returns 0 if at least one rating could be
    read.
    """
    folder = Path(options.reviews)
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder; give the folder of the samples with --reviews")
    now = datetime.now(UTC).isoformat(timespec="seconds")
    filled = check_ratings(_read_files(options.files), cache(partial(_sample_of, folder)), now)
    path = folder / LABELS
    busy = f"{folder}: another import is running; try again when it has finished"
    with alone(folder / ".import.lock", busy):
        merged = merge(_read_stored_labels(path), filled, replace=options.replace)
        counted = merged.added + merged.replaced + merged.unchanged + len(filled.skipped)
        problems = (*filled.problems, *merged.problems)
        if not counted:
            raise InvalidInput(problems or [Problem(Place(f), EMPTY) for f in options.files])
        write_whole(path, render(merged.rows).encode("utf-8", SURROGATES))
    for problem in problems:
        print(plain(f"gate: {problem}"), file=sys.stderr)
    _tell_import(merged, len(filled.skipped), len(problems), path)
    return 0


def _read_files(files: list[str]) -> Iterator[raw_answer.Spoken | Problem]:
    """The rows of every file; of one that cannot be read the reason."""
    for name in files:
        path = Path(name)
        try:
            if path.suffix.lower() == ".json":
                yield from raw_answer.from_form(manifest.load_json(path), name)
            else:
                yield from sheet.read(manifest.load_bytes(path), name)
        except InvalidInput as error:
            yield from error.problems
        except UsageError as error:
            yield Problem(Place(name), str(error).removeprefix(f"{name}: "))


def _sample_of(folder: Path, period: str) -> Manifest | None:
    """None for a period without a sample, or of a name that leads elsewhere."""
    try:
        path = folder / f"{check_period(period)}.json"
    except UsageError:
        return None
    return manifest.read(path) if is_there(path) else None


def _read_stored_labels(path: Path) -> tuple[Label, ...]:
    """Raises InvalidInput for a file with a wrong row: it is not written over."""
    if not is_there(path):
        return ()
    stored = labels.read_labels(DatasetSource(name=str(path), open=lambda: open_plain(path)))
    if stored.wrong:
        raise InvalidInput(stored.wrong)
    return stored.rows


def _tell_import(merged: Merged, skipped: int, problems: int, path: Path) -> None:
    parts = [f"{count(merged.added, 'label')} added"]
    parts += [f"{merged.replaced} replaced"] if merged.replaced else []
    parts += [f"{merged.taken_back} taken back"] if merged.taken_back else []
    parts += [f"{merged.unchanged} there already"] if merged.unchanged else []
    parts += [f"{count(skipped, 'answer')} not judged"] if skipped else []
    parts += [f"{count(problems, 'problem')}, not imported"] if problems else []
    print(plain(f"{path}: {', '.join(parts)}; {count(len(merged.rows), 'label')} in all"))


def agreement(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Prints how far people and the judge agree; returns 2 if the file has wrong rows."""
    checked = examine(home_of(options).file, options.labels, env, datetime.now(UTC).date())
    if options.format == "json":
        print(json.dumps(to_json(checked), indent=2, ensure_ascii=False))
    elif options.format == "github":
        print(markdown_of(blocks(checked)))
    else:
        print(text_of(blocks(checked), width=page_width(WIDTH)))
    return UsageError.exit_code if checked.wrong else 0


ACTIONS: Mapping[str, Callable[[argparse.Namespace, Mapping[str, str]], int]] = {
    "sample": sample,
    "import": import_labels,
    "agreement": agreement,
}


def examine(
    config_file: str | None, labels_file: str | None, env: Mapping[str, str], today: date
) -> Checked:
    """The checked labels. `labels_file` replaces the one that gate.yml names. Raises UsageError or
    InvalidInput if a file cannot be read or no suite asks a judge.
    """
    root = Path(config_file).parent if config_file else Path()
    config = load_own_config(config_file, root, env, today)
    rules = Rules(config=config, own=config, root=root)
    plans = prepare(config.suites, rules, Selection())
    suites = {plan.name: judged_suite_of(plan) for plan in plans}
    if not any(suite.opinions for suite in suites.values()):
        raise UsageError(
            f"{config_file or 'gate.yml'}: no suite has a grader that uses a judge, so "
            "there is nothing to compare people with; add the grader `judge` to a suite"
        )
    path = Path(labels_file) if labels_file else root / file_of(config.judge)
    if not is_there(path):
        raise UsageError(
            f"{path}: no such file; `gate review sample` selects answers to rate, and `gate review "
            "import` writes the labels"
        )
    source = DatasetSource(name=str(path), open=lambda: open_plain(path))
    least = least_of(config.judge)
    return _summarise(str(path), least, review_labels(lambda: source, suites, least))


def _summarise(file: str, least: float | None, review: LabelReview) -> Checked:
    return Checked(
        file=file,
        least=least,
        agreements=review.agreements,
        advisory=review.advisory,
        notes=(*map(str, review.found.renamed), *review.warnings),
        wrong=tuple(map(str, sorted(review.found.wrong))),
        stale=tuple(map(str, sorted(review.found.stale))),
    )
