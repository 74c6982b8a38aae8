"""Continues a stored session: an interrupted one where it was, an ended one with one more batch of
trials.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from shlex import quote

from gate.analysis.catalogue import JUDGE_INJECTION
from gate.errors import UsageError
from gate.records import MetricSpec
from gate.records.settings import OutputOptions
from gate.run.added_rounds import add_rounds
from gate.run.early_stopping import restore_looks
from gate.run.setup import Setup
from gate.store.session import CONTROL, Meta, SessionWriter, SuiteMeta, is_session
from gate.store.session_check import check_rows
from gate.verdict.course import Course, course

_UNJUDGED = ("error",)  # an outage kept it from a verdict
# They say how it is shown, or where; the session's folder is named.
_NOT_REPEATED = {*(one.name for one in fields(OutputOptions)), "out", "resume"}
_OPTIONS = {"stop_rule": "stop"}  # what is called otherwise on the command line
_CHOICE = ("config", "suite", "case", "sample", "shard", "rounds")  # options that say what is asked


class OtherSession(UsageError):
    """The stored session cannot be continued by this run."""


def reopen(
    folder: Path,
    meta: Meta,
    redact: Callable[[str], str],
    *,
    head: str = "",
    rounds: int | None = None,
) -> SessionWriter:
    """Opens a stored session to continue it. `meta`: that of a new session of this run. `head`: the
    commit of the session, if it is an earlier one with the same files. `rounds`: the wanted number
    of rounds, if it differs from that of `meta`. Raises OtherSession for a session that is broken,
    in use or does not fit.
    """
    session = None
    try:
        session = SessionWriter.resume(folder, redact)
        _check_fits(session, meta, head, rounds)
        deque(check_rows(session.rows(), session.meta.suites, folder), maxlen=0)
    except UsageError as error:
        if session is not None:
            session.close()
        raise OtherSession(str(error)) from error
    return session


def continue_looks(setup: Setup, session: SessionWriter) -> tuple[Setup, Course]:
    """The setup with the looks with which the session began, and its position between them."""
    wanted = setup.plans
    setup = replace(setup, plans=restore_looks(wanted, session.meta.suites))
    # What was accepted since asks the last look anew, and so does a new head: its verdict is the
    # same one, unless the base has another baseline.
    anew = bool(setup.accepted or setup.earlier.head)
    stands = session.log.outcome not in (None, *_UNJUDGED) and not anew
    if setup.more_rounds and _has_ended(session):
        try:
            plans, now = add_rounds(
                session, setup.plans, setup.more_rounds, setup.place.config.regression
            )
        except UsageError as error:
            raise OtherSession(str(error)) from error
        wanted = plans
        setup = replace(setup, plans=plans)
    else:
        now = _course(session.meta, session, stands=stands)
    notes = [*setup.notes, *_notes(now, session.meta)]
    if setup.plans != wanted:
        notes.append(
            f"session {session.meta.session_id} keeps its original settings for stop, "
            "max_rounds and concurrency: changing them has no effect after a session has "
            "begun"
        )
    if now.again and now.going:
        session.note_continued()
    stored = session.meta.suites
    plans = tuple(replace(plan, continued=stored[plan.name].continued) for plan in setup.plans)
    return replace(setup, plans=plans, notes=tuple(notes)), now


def _has_ended(session: SessionWriter) -> bool:
    """Whether it came to a verdict that stands."""
    return session.log.outcome not in (None, *_UNJUDGED)


def _check_fits(session: SessionWriter, meta: Meta, head: str, rounds: int | None) -> None:
    """Raises UsageError."""
    folder, before = session.folder, session.meta
    if before.debugging != meta.debugging:
        what = "single cases (--case, --failed)" if before.debugging else "whole suites"
        raise UsageError(
            f"--resume {folder}: it is a run of {what}; resume it with its own options, "
            "or start a new run"
        )
    graded = [bool(one.options.get("answers")) for one in (before, meta)]
    if graded[0] != graded[1]:
        command = "gate grade" if graded[0] else "gate run"
        raise UsageError(f"--resume {folder}: `{command}` began it; continue with `{command}`")
    adds = rounds is not None and _has_ended(session)
    own_rounds = {suite.rounds for suite in before.suites.values()} | {before.added}
    begun_so = rounds is None or adds or own_rounds == {rounds, None} or before.added == rounds
    if not begun_so or _without_looks(before.suites) != _without_looks(meta.suites):
        raise UsageError(
            f"--resume {folder}: the suites, the choice of cases, datasets or graders have changed "
            "since; start a new run, or continue with the original options and files"
            f"{_tell_start(before)}"
        )
    if before.deployment != meta.deployment:
        raise UsageError(f"--resume {folder}: agent.version changed since; start a new run")
    judged = session.log.outcome not in _UNJUDGED
    again = adds or (judged and _course(before, session, stands=True).again)
    if (again or head) and (what := _find_change(before, meta, head, folder)):
        why = "it has ended, and no rounds can be added to it: " if again else ""
        raise UsageError(f"--resume {folder}: {why}the {what} changed since; start a new run")


def _find_change(before: Meta, now: Meta, head: str, folder: Path) -> str:
    """What rounds must have in common to count as one measurement, and these have not; empty where
    they have all of it. A new head is judged by the base's rules and baseline of now.
    """
    earlier, provenance = before.provenance, now.provenance
    if (head or provenance.commit) not in before.commits:
        return "commit"
    if head and earlier.pull_request != provenance.pull_request:
        return "pull request"
    if earlier.agent != provenance.agent:
        return "agent"
    both_known = bool(before.same_agent and now.same_agent)
    if (both_known and before.same_agent != now.same_agent) or (
        not both_known and earlier.agent_digest != provenance.agent_digest
    ):
        return "agent's options"
    if head and is_session(folder / CONTROL) and earlier.base_commit != provenance.base_commit:
        return "base that the control agent answered for"
    return "rules" if not head and earlier.config_digest != provenance.config_digest else ""


def _tell_start(meta: Meta) -> str:
    """What to type again; empty where no option chose anything."""
    named = ((name, meta.options.get(name)) for name in _CHOICE)
    each = ((name, of if isinstance(of, list) else [of]) for name, of in named if of is not None)
    given = " ".join(f"--{name} {quote(str(one))}" for name, of in each for one in of)
    return f": {given}" if given else ""


def list_next_commands(meta: Meta, folder: Path) -> Mapping[str, str]:
    """What to type after a run, by its outcome: what continues it, what makes it the baseline."""
    save = ["gate baseline save"]
    if "config" in meta.options:
        save.append(f"--config {quote(str(meta.options['config']))}")
    if "out" in meta.options:  # else it is the newest session where the command looks
        save.append(quote(str(folder)))
    return {"error": _resume_command(meta, folder), "no_baseline": " ".join(save)}


def _resume_command(meta: Meta, folder: Path) -> str:
    """The command that continues the session with the options that began it; empty where one of
    them is better not printed, such as an address with a password.
    """
    if "answers" in meta.options:  # their files are no option
        return ""
    words = ["gate run"]
    for name, given in meta.options.items():
        if name in _NOT_REPEATED:
            continue
        option = f"--{_OPTIONS.get(name, name).replace('_', '-')}"
        for value in given if isinstance(given, list) and name != "shard" else [given]:
            text = "/".join(map(str, value)) if name == "shard" else str(value)
            if "@" in text:
                return ""
            words.append(option if value is True else f"{option} {quote(text)}")
    return " ".join([*words, "--resume", quote(str(folder))])


def _course(meta: Meta, session: SessionWriter, *, stands: bool) -> Course:
    plans = {name: suite.looks for name, suite in meta.suites.items() if suite.looks is not None}
    return course(plans, meta.order_seed, session.log.look, stands=stands)


def _without_looks(suites: Mapping[str, SuiteMeta]) -> dict[str, SuiteMeta]:
    return {
        name: replace(
            suite,
            looks=None,
            continued=False,
            specs=_comparable_specs(suite.specs),
            told_by={n: replace(by, about="") for n, by in suite.told_by.items()},
        )
        for name, suite in suites.items()
    }


def _comparable_specs(specs: Mapping[str, MetricSpec]) -> dict[str, MetricSpec]:
    """Without their words, and without what versions before did not count: neither is a change of
    what the graders do.
    """
    return {
        name: replace(spec, description="")
        for name, spec in specs.items()
        if name != JUDGE_INJECTION.name
    }


def _notes(now: Course, meta: Meta) -> list[str]:
    name, notes = meta.session_id, []
    if meta.added:
        notes.append(
            f"session {name} had a verdict before rounds were added to it, up to "
            f"{meta.added} per case: that earlier verdict also counts towards alpha"
        )
    if now.again and not now.going:
        notes.append(f"session {name} has reached max_rounds: no trial was added")
    elif now.again and not now.until:
        notes.append(f"session {name} was already complete: one batch of trials was added")
    return notes
