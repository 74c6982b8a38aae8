"""Episodes of BrowserGym and AgentLab: a folder each, of which summary_info.json is read.

What else is worth knowing lies in pickles, which run code when they are read: none is opened.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from gate.errors import InvalidInput, Place, Problem, UsageError
from gate.files.json_values import as_amount, as_count, as_list, as_object, as_string, is_number
from gate.files.plain import json_of, plain
from gate.files.problems import refuse_file
from gate.files.timestamps import iso, moment_of
from gate.graders.webarena_rules.recorded import FINAL_URL
from gate.importers.formats.webarena import results
from gate.importers.trials.build import usage_of
from gate.importers.trials.names import suite_name
from gate.records import CheckedJson, Json, Response
from gate.text.shortening import tidy

SUMMARY, LAST_STEP, PACKAGES = "summary_info.json", "steps_info.json", "package_versions.txt"
_MOST = 64 << 20  # bytes of such a file
# 2024-10-22_11-05-33_<agent>_on_webarena.12_47, the last number the seed
NAME = re.compile(
    r"(?:(\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d)_)?(.*)_on_(webarena[a-z_]{0,20})\.([\d.]{1,40}?)"
    r"(?:_(\d{1,12}))?(?:_\d{1,3})?",
    re.DOTALL,
)
_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One folder, by its name; WebArena-Verified has the task between template and revision."""

    folder: Path
    started: datetime | None
    agent: str
    benchmark: str
    task: str
    round: int = 1


def episodes(path: Path, agent: str) -> results.ResultSource:
    """The episode that the folder is, or those in it. Raises UsageError if not of one agent."""
    folders = [path] if (path / SUMMARY).exists() else _inner(path)
    every = [one for folder in folders if (one := _episode(folder))]
    if not every:
        raise UsageError(
            f"{path}: has no folder named ..._on_webarena.<task>_<seed>, an episode of "
            "BrowserGym; give the folder of one study"
        )
    for what, names in (
        ("agents", {one.agent for one in every if not agent or one.agent == agent}),
        ("benchmarks", {one.benchmark for one in every}),
    ):
        if len(names) != 1:
            listed = ", ".join(sorted(tidy(name, 80) for name in names)[:_SHOWN]) or "none"
            hint = "--option agent=NAME" if what == "agents" else "the folder of one benchmark"
            raise UsageError(f"{path}: has episodes of {len(names)} {what} ({listed}); give {hint}")
    chosen = [*_number_rounds([one for one in every if not agent or one.agent == agent])]
    named = [one.folder / name for one in chosen for name in (SUMMARY, LAST_STEP)]
    started = min((one.started for one in chosen if one.started), default=None)
    return results.ResultSource(
        files=tuple(file for file in named if file.is_file() and not file.is_symlink()),
        results=lambda: _results(chosen),
        suite=suite_name(chosen[0].benchmark),
        version=_version(chosen[0].folder),
        agent=tidy(chosen[0].agent, 200),
        created_at=iso(started) or None,
    )


def _results(episodes: Iterable[Episode]) -> Iterator[results.TaskResult | Problem]:
    for episode in episodes:
        try:
            yield _result(episode)
        except InvalidInput as error:
            yield from error.problems


def _inner(path: Path) -> list[Path]:
    """A folder whose name begins with `_` was tried again: its tool leaves it out, too."""
    if not path.is_dir() or path.is_symlink():
        raise UsageError(f"{path}: not a folder; give an existing folder")
    inner = [item for item in sorted(path.iterdir()) if item.name[0] not in "_."]
    return [item for item in inner if item.is_dir() and not item.is_symlink()]


def _episode(folder: Path) -> Episode | None:
    match = NAME.fullmatch(folder.resolve().name)
    if not match:
        return None
    digits = match[4].split(".", 2)[:2][-1]
    if not digits.isdigit() or len(digits) > 9:
        return None
    return Episode(
        folder=folder,
        started=_moment(match[1] or ""),
        agent=match[2],
        benchmark=match[3].rstrip("_"),
        task=str(int(digits)),
    )


def _number_rounds(episodes: Sequence[Episode]) -> Iterator[Episode]:
    """Several of one task are its rounds."""
    seen = Counter[str]()
    for episode in episodes:
        seen[episode.task] += 1
        yield replace(episode, round=seen[episode.task])


def _result(episode: Episode) -> results.TaskResult:
    summary = episode.folder / SUMMARY
    place = Place(summary.as_posix())
    result = results.TaskResult(
        task=episode.task,
        place=place,
        round=episode.round,
        started_at=iso(episode.started),
        whole=False,
    )
    if not summary.exists() and not summary.is_symlink():
        return results.mark_crashed(result, "")  # it was never finished
    data: CheckedJson = json_of(summary, _MOST)
    if wrong := _fault(data):
        refuse_file(summary, wrong)
    seconds = [as_amount(data.get(f"stats.cum_{part}_elapsed")) for part in ("agent", "step")]
    latency = sum(filter(None, seconds)) * 1000.0 if any(seconds) else None
    timed = replace(result, latency_ms=latency)
    done = data["cum_reward"] > 0
    if data.get("err_msg") and not done:
        return results.mark_crashed(timed, data["err_msg"])
    return replace(
        timed,
        passed=done,
        codes=(results.TRUNCATED,) if data.get("truncated") is True else (),
        response=_response(episode, data),
    )


def _fault(data: Json) -> str:
    if not isinstance(data, dict):
        return "must be an object"
    reward = data.get("cum_reward")
    if not is_number(reward):
        return "cum_reward: not a number, so it is not known whether the task was done"
    if not 0 <= reward <= 1:
        return f"cum_reward: {reward:g} is not from 0 to 1"
    if not isinstance(data.get("err_msg"), (str, type(None))):
        return "err_msg: not a string"
    return ""


def _response(episode: Episode, data: Mapping[str, Json]) -> Response:
    """Steps are counted there, and not told."""
    tokens = {key: data.get(f"stats.cum_{key}_tokens") for key in ("input", "output")}
    answer, url = _last(episode.folder / LAST_STEP)
    state: dict[str, Json] = {FINAL_URL: url} if url else {}
    steps = as_count(data.get("n_steps"))
    return Response(
        answer=answer,
        usage=usage_of(**tokens, cost_usd=data.get("stats.cum_cost")),
        steps=None if steps is None else (),
        omitted_steps=steps or 0,
        state=state,
    )


def _last(path: Path) -> tuple[str, str]:
    """Answer and address of the last step, where somebody had them written as JSON."""
    if not path.is_file():
        return "", ""
    data = json_of(plain(path), _MOST)
    step = data[-1] if isinstance(data, list) and data else data
    seen = as_object(as_object(step).get("obs"))
    last = as_object(next(reversed(as_list(seen.get("chat_messages"))), None))
    answers = {"assistant": last.get("message"), "infeasible": "N/A"}
    return as_string(answers.get(str(last.get("role")))), as_string(seen.get("url"))


def _moment(text: str) -> datetime | None:
    date, _, time = text.partition("_")
    return moment_of(f"{date} {time.replace('-', ':')}")


def _version(folder: Path) -> str:
    """`browsergym 0.13.3`, by the list of packages that an episode has."""
    path = folder / PACKAGES
    if path.is_file() and not path.is_symlink() and path.stat().st_size <= _MOST:
        for line in path.read_text("utf-8", "replace").splitlines():
            name, equals, version = line.strip().partition("==")
            if equals and name.lower() in ("browsergym-webarena", "browsergym", "browsergym-core"):
                return f"browsergym {tidy(version, 40)}"
    return "browsergym"
