"""What the logs show of one request: where they are found, how long is waited, what is taken."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gate.agents.server_logs import request_logs, window
from gate.agents.server_logs.log_extract import count_ended
from gate.agents.server_logs.options import LogOptions
from gate.agents.server_logs.request_logs import LogBook
from gate.agents.server_logs.wait_for_lines import QUIET_S, STEP_S
from gate.errors import UsageError
from gate.records.server_logs import NO_CALLS, NOT_ALONE, NOTHING_READ, SEVERAL
from tests.support.server_log_lines import Ticking, access, audited, new_console, old_console

AT = int(datetime(2026, 11, 20, 9, 15, tzinfo=UTC).timestamp() * 1000)


class Server:
    """Its logs in a folder. `asked(...)` is a request during which the server writes."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.access = root / "logs" / "openagent.log"
        self.console = root / "logs" / "openagent_console.log"
        self.audit = root / "audit" / "chat_1.jsonl"

    def starts(self, *logs: str) -> None:
        for log in logs:
            path = getattr(self, log)
            path.parent.mkdir(exist_ok=True)
            path.write_text("started\n" if log != "audit" else audited("before"))

    def book(self, *, env=None, time=None, nearby=True, **options) -> LogBook:
        time = time or Ticking()
        return LogBook(
            LogOptions(**options),
            env=env or {},
            root=self.root,
            nearby=nearby,
            clock=time.clock,
            sleep=time.sleep,
        )

    def asked(self, *written, alone=True, late=0, env=None, time=None, nearby=True, **options):
        book = self.book(env=env, time=time, nearby=nearby, **options)
        with book.before() as mark:
            for path, text in written:
                append(path, text)
            return book.after(mark, started_ms=AT, ended_ms=AT + 2000, alone=alone, late=late)


@pytest.fixture
def server(tmp_path):
    return Server(tmp_path)


def append(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


def names(shown):
    return None if shown.calls is None else [call.name for call in shown.calls]


def read(shown, kind):
    (found,) = [log for log in shown.logs if log.kind == kind]
    return found


# -- calls and requests


@pytest.mark.parametrize("written", [old_console("web_search"), new_console("web_search")])
def test_the_calls_of_a_request_are_those_that_were_appended(server, written):
    server.starts("access")
    append(server.console, old_console("of_another_request"))
    shown = server.asked((server.console, written), (server.access, access()))
    assert (names(shown), shown.requests, shown.alone) == (["web_search"], 1, True)
    console = read(shown, "console")
    assert (console.path, console.bound) == ("logs/openagent_console.log", "offset")
    assert (console.shows_calls, console.note) == (True, "")
    assert (shown.started_ms, shown.ended_ms) == (AT, AT + 2000)


def test_no_call_is_shown_apart_from_no_word_of_calls(server):
    server.starts("access", "console")
    ended = (server.access, access())
    assert names(server.asked((server.console, old_console()), ended)) == []
    silent = server.asked((server.console, "serving\n"), ended)
    assert (names(silent), read(silent, "console").shows_calls) == (None, False)
    assert NO_CALLS in silent.notes


def test_calls_of_console_and_audit_log_are_counted_once(server):
    server.starts("access", "console", "audit")
    console = (server.console, new_console("web_search", "search-mcp__fetch"))
    audit = (server.audit, audited("web_search") + audited("fetch", "failure"))
    shown = server.asked(console, audit)
    assert [(c.name, c.log, c.outcome) for c in shown.calls] == [
        ("web_search", "audit", "success"),
        ("fetch", "audit", "failure"),
    ]
    assert request_logs.DIFFER not in shown.notes


def test_where_console_and_audit_log_differ_it_is_told_and_the_audit_log_is_taken(server):
    server.starts("console", "audit")
    shown = server.asked(
        (server.console, new_console("web_search", "shell")), (server.audit, audited("web_search"))
    )
    assert names(shown) == ["web_search"]
    assert request_logs.DIFFER in shown.notes


def test_a_call_of_no_tool_is_in_both_logs_and_was_not_executed(server):
    server.starts("console", "audit")
    shown = server.asked(
        (server.console, new_console("nope")), (server.audit, audited("nope", "not_found"))
    )
    assert (names(shown), request_logs.DIFFER in shown.notes) == ([], False)


def test_an_audit_log_that_is_silent_leaves_the_word_to_the_console(server):
    server.starts("console", "audit")
    shown = server.asked((server.console, new_console("shell")))
    assert [(call.name, call.log) for call in shown.calls] == [("shell", "console")]


def test_a_console_whose_lines_contradict_it_proves_nothing(server):
    server.starts("console")
    forged = new_console("web_search") + '  Tool 2: [shell] args: {"c": "x"}\n'
    shown = server.asked((server.console, forged))
    assert (names(shown), request_logs.ODD in shown.notes) == (None, True)


def test_calls_of_several_chats_are_told(server):
    shown = server.asked((server.audit, audited("a") + audited("b", chat="chat_2")))
    assert (names(shown), request_logs.CHATS in shown.notes) == (["a", "b"], True)
    assert shown.alone is False


def test_broken_records_are_told(server):
    shown = server.asked((server.audit, audited("a") + '{"type": "tool_\n'))
    assert (names(shown), request_logs.BROKEN in shown.notes) == (["a"], True)


def test_a_log_that_was_not_read_whole_proves_nothing(server):
    server.starts("console")
    flood = f"{'x' * 1_000_000}\n" * 13
    shown = server.asked((server.console, flood + old_console("web_search")))
    assert (names(shown), request_logs.PARTLY in shown.notes) == (None, True)


def test_what_is_read_of_all_sessions_together_has_a_limit(server):
    half = f"{'x' * 1_000_000}\n" * 7
    other = server.audit.with_name("chat_2.jsonl")
    shown = server.asked((server.audit, half + audited("a")), (other, half + audited("b")))
    assert (names(shown), request_logs.PARTLY in shown.notes) == (None, True)


def test_an_audit_log_that_was_not_read_whole_leaves_the_word_to_the_console(server):
    server.starts("console")
    flood = f"{'x' * 1_000_000}\n" * 13
    shown = server.asked((server.console, old_console("a")), (server.audit, flood + audited("b")))
    assert (names(shown), request_logs.PARTLY in shown.notes) == (["a"], True)


def test_no_request_makes_thousands_of_calls(server):
    server.starts("console")
    shown = server.asked((server.console, old_console(*["x"] * (request_logs.MOST_CALLS + 1))))
    assert (names(shown), request_logs.TOO_MANY in shown.notes) == (None, True)
    many = audited("x") * (request_logs.MOST_CALLS + 1)
    assert names(server.asked((server.audit, many))) is None


def test_a_last_line_that_never_ends_is_read(server):
    server.starts("console")
    assert names(server.asked((server.console, "Tool Call: [web_search]"))) == ["web_search"]


def test_of_an_access_log_that_cannot_be_read_no_request_is_counted(server):
    server.starts("console")
    server.access.mkdir()
    assert server.asked((server.console, old_console())).requests is None


def test_names_are_clean_and_short(server):
    server.starts("console")
    (name,) = names(
        server.asked((server.console, old_console("\x1b]0;x\x07a\x08\u202e" + "b" * 999)))
    )
    assert name == "a" + "b" * 198 + "…"


def test_both_paths_of_chat_completions_count_as_requests(server):
    server.starts("access")
    health = access(method="GET", path="/api/health")
    two = access() + health + access(path="/api/v1/chat/completions", status=500)
    shown = server.asked((server.access, two))
    assert (shown.requests, SEVERAL in shown.notes) == (2, True)
    none = server.asked((server.access, health))
    assert (none.requests, request_logs.NO_CHAT in none.notes) == (0, True)


@pytest.mark.parametrize(
    ("first", "late", "requests"),
    [
        ("09:14:58.760", 1, 1),  # its line was late
        ("09:14:58.760", 0, 2),  # nobody of ours ended: another's
        ("09:14:59.000", 1, 2),  # it ended while this one ran
    ],
)
def test_late_lines_of_requests_that_were_over_are_not_of_this_one(server, first, late, requests):
    server.starts("access")
    lines = access(f"2026/11/20 {first}") + access("2026/11/20 09:15:00.250", took="1.5s")
    assert server.asked((server.access, lines), late=late).requests == requests


def test_other_requests_beside_it_are_told(server):
    server.starts("console")
    shown = server.asked((server.console, old_console()), alone=False)
    assert (shown.alone, NOT_ALONE in shown.notes) == (False, True)


def test_a_rotation_is_told_of_the_log_and_of_the_request(server):
    server.starts("access", "console")
    book = server.book()
    with book.before() as mark:
        append(server.console, old_console("a"))
        server.console.rename(server.console.with_suffix(".1"))
        append(server.console, old_console("b"))
        shown = book.after(mark, started_ms=AT, ended_ms=AT, alone=True)
    assert names(shown) == ["a", "b"]
    assert "rotated" in read(shown, "console").note
    assert f"console log: {read(shown, 'console').note}" in shown.notes


# -- where the logs are


def test_without_any_log_nothing_is_known_and_nothing_waited_for(server):
    time = Ticking()
    shown = server.asked(time=time)
    assert (shown.calls, shown.requests, time.slept) == (None, None, 0)
    assert [(log.kind, log.path, log.bound, log.note) for log in shown.logs] == [
        ("access", "openagent/logs/openagent.log", None, "not there"),
        ("console", "logs/openagent_console.log", None, "not there"),
        ("audit", "audit", None, "not there"),
    ]
    assert NOTHING_READ in shown.notes
    assert {NO_CALLS, request_logs.NO_CHAT}.isdisjoint(shown.notes)


@pytest.mark.parametrize(
    ("options", "env", "there", "taken"),
    [
        ({}, {}, ["logs/openagent_console.log", "openagent_console.log"], 0),
        ({}, {}, ["openagent_console.log"], 0),
        ({}, {"OPENAGENT_CONSOLE_LOG": "a"}, ["logs/openagent_console.log", "a"], 1),
        ({}, {"AGENTBENCH_CONSOLE_LOG_FALLBACK": "b"}, ["a", "b"], 1),
        (
            {},
            {"OPENAGENT_CONSOLE_LOG": "a", "AGENTBENCH_CONSOLE_LOG_FALLBACK": "b"},
            ["b", "a"],
            1,
        ),
        ({}, {"OPENAGENT_CONSOLE_LOG": "a", "AGENTBENCH_CONSOLE_LOG_FALLBACK": "b"}, ["b"], 0),
        ({}, {"OPENAGENT_CONSOLE_LOG": ""}, ["logs/openagent_console.log"], 0),
        ({"console": "c"}, {"OPENAGENT_CONSOLE_LOG": "a"}, ["a", "c"], 1),
        ({"console": ""}, {"OPENAGENT_CONSOLE_LOG": "a"}, ["a"], 0),
    ],
)
def test_the_first_console_log_that_is_there_is_taken(server, options, env, there, taken):
    for path in there:
        append(server.root / path, "started\n")
    written = [(server.root / path, old_console(path)) for path in there]
    shown = server.asked(*written, env=env, **options)
    assert names(shown) == [there[taken]]


@pytest.mark.parametrize(
    ("options", "env", "there"),
    [
        ({"access": "a.log"}, {}, "a.log"),
        ({}, {}, "openagent/logs/openagent.log"),
        ({}, {}, "logs/openagent.log"),
    ],
)
def test_the_access_log_is_found(server, options, env, there):
    append(server.root / there, "started\n")
    shown = server.asked((server.root / there, access()), env=env, **options)
    assert (read(shown, "access").path, shown.requests) == (there, 1)


@pytest.mark.parametrize(
    ("options", "env", "folder"),
    [
        ({"audit": "x/y"}, {"OPENAGENT_AUDIT_DIR": "z"}, "x/y"),
        ({}, {"OPENAGENT_AUDIT_DIR": "z"}, "z"),
        ({}, {}, "audit"),
    ],
)
def test_the_audit_folder_is_found(server, options, env, folder):
    written = (server.root / folder / "s.jsonl", audited("a"))
    assert names(server.asked(written, env=env, **options)) == ["a"]


@pytest.mark.parametrize(
    ("options", "env", "note"),
    [
        ({"console": "mine.log"}, {}, "configured, but not there"),
        ({}, {"OPENAGENT_CONSOLE_LOG": "mine.log"}, "OPENAGENT_CONSOLE_LOG names it, but it is"),
    ],
)
def test_a_named_log_that_is_not_there_is_told_and_no_other_is_read(server, options, env, note):
    server.starts("console")
    shown = server.asked((server.console, old_console("web_search")), env=env, **options)
    assert names(shown) is None
    (log,) = [log for log in shown.logs if log.kind == "console"]
    assert (log.path, log.bound) == ("mine.log", None)
    assert note in log.note


def test_a_fallback_that_is_not_needed_is_not_missed(server):
    server.starts("console")
    env = {
        "OPENAGENT_CONSOLE_LOG": str(server.console),
        "AGENTBENCH_CONSOLE_LOG_FALLBACK": "mine.log",
    }
    shown = server.asked((server.console, old_console("a")), env=env)
    assert read(shown, "console").path == str(server.console)


def test_a_named_log_that_appears_during_the_request_is_read_from_its_beginning(server):
    env = {"OPENAGENT_CONSOLE_LOG": str(server.root / "new" / "mine.log")}
    late = Ticking({2: lambda: append(server.root / "new" / "mine.log", old_console("shell"))})
    assert names(server.asked(env=env, time=late)) == ["shell"]


def test_the_usual_places_say_nothing_of_a_server_elsewhere(server):
    server.starts("access", "console")
    written = [(server.console, old_console("shell")), (server.root / "c.log", old_console("own"))]
    assert server.asked(*written, nearby=False).logs == ()
    assert names(server.asked(*written, nearby=False, console="c.log")) == ["own"]


def test_logs_that_are_there_can_be_asked_for(server):
    server.starts("access", "audit")
    assert server.book().find_logs() == {"access": server.access, "audit": server.audit.parent}
    assert server.book(nearby=False).find_logs() == {}


# -- waiting


def test_once_the_access_line_is_there_nothing_more_is_waited_for(server):
    server.starts("access", "console")
    time = Ticking({2: lambda: append(server.access, access())})
    shown = server.asked((server.console, old_console("a")), time=time)
    assert (shown.requests, names(shown), time.slept) == (1, ["a"], 3)  # the third: nothing new


def test_lines_that_come_after_the_response_are_waited_for(server):
    server.starts("access", "console")
    late = {3: lambda: append(server.console, old_console("a")[:12])}
    late |= {4: lambda: append(server.console, old_console("a")[12:])}
    shown = server.asked((server.access, access()), time=Ticking(late))
    assert names(shown) == ["a"]


def test_a_line_that_has_begun_is_waited_for_beyond_the_quiet(server):
    server.starts("console")
    late = {30: lambda: append(server.console, "search]\n")}
    assert 30 * STEP_S > QUIET_S
    shown = server.asked((server.console, "Tool Call: [web_"), time=Ticking(late))
    assert names(shown) == ["web_search"]


def test_without_an_access_line_it_is_quiet_for_a_while(server):
    server.starts("console")
    time = Ticking()
    server.asked((server.console, old_console("a")), time=time)
    assert QUIET_S <= time.now < QUIET_S + 2 * STEP_S


def test_a_log_that_never_stops_is_waited_for_no_longer_than_settle_s(server):
    server.starts("console")
    more = {n: lambda: append(server.console, "more\n") for n in range(1000)}
    time = Ticking(more)
    server.asked((server.console, "x\n"), time=time, settle_s=0.51)
    assert time.now == pytest.approx(0.51)


@pytest.mark.parametrize("settle_s", [-1.0, float("nan"), float("inf"), 61.0])
def test_a_wait_that_is_none_is_refused(server, settle_s):
    with pytest.raises(UsageError, match="settle_s"):
        server.book(settle_s=settle_s)


# -- by time


def clock(time):
    return f"2026/11/20 {time}"


def in_window(server, *written, **options):
    return server.asked(*written, bind="window", **{"timezone": "UTC", **options})


def test_in_a_window_lines_count_from_15_s_before_to_5_s_after(server):
    times = ["09:14:44.999", "09:14:45.000", "09:15:07.000", "09:15:07.001"]
    append(server.access, "".join(access(clock(time)) for time in times))
    shown = in_window(server)
    assert (shown.requests, read(shown, "access").bound) == (2, "window")


def test_in_a_window_a_long_log_is_read_back_to_its_older_lines_and_no_further(server):
    times = ["08:00:00.000", "09:15:01.000"]
    flood = f"{'x' * 1_000_000}\n" * 13
    append(server.access, flood + "".join(access(clock(time)) for time in times))
    shown = in_window(server)
    assert (shown.requests, window.LONGER in read(shown, "access").note) == (1, False)


def test_in_a_window_audited_calls_are_taken_by_their_time(server):
    for n, time in enumerate(["09:14:44.9", "09:15:01.5", "09:15:01.0", "09:15:07.1"]):
        append(server.root / "audit" / f"{n}.jsonl", audited(str(n), at=f"2026-11-20T{time}Z"))
    append(server.audit, audited("no time", at=None))
    shown = in_window(server)
    assert names(shown) == ["2", "1"]
    assert "no time" in read(shown, "audit").note


def test_in_a_window_a_session_counts_from_the_first_request_on_that_it_may_hold(server):
    append(server.audit, audited("a", at="2026-11-20T09:15:01Z"))
    os.utime(server.audit, (AT / 1000, AT / 1000))
    assert names(in_window(server)) == ["a"]


def test_in_a_window_a_session_that_was_not_read_whole_proves_nothing(server):
    flood = f"{'x' * 1_000_000}\n" * 13
    append(server.audit, flood + audited("a", at="2026-11-20T09:15:01Z"))
    shown = in_window(server)
    assert (names(shown), request_logs.PARTLY in shown.notes) == (None, True)


def test_in_a_window_no_line_of_the_console_is_taken_and_their_number_is_told(server):
    server.starts("console")
    shown = in_window(server, (server.console, "one\n" + old_console("a")))
    console = read(shown, "console")
    assert (names(shown), console.bound, console.shows_calls) == (None, None, False)
    assert console.note.startswith("4 new lines have no time")


@pytest.mark.parametrize(
    ("timezone", "local"),
    [
        ("UTC", "2026/11/20 09:15:01.000"),
        ("+08:00", "2026/11/20 17:15:01.000"),
        ("+14:00", "2026/11/20 23:15:01.000"),
        ("-03:30", "2026/11/20 05:45:01.000"),
        ("Asia/Shanghai", "2026/11/20 17:15:01.000"),
        ("America/New_York", "2026/11/20 04:15:01.000"),
    ],
)
def test_local_times_are_read_in_the_zone_of_the_server(server, timezone, local):
    append(server.access, access(local))
    assert in_window(server, timezone=timezone).requests == 1


def test_the_zone_of_this_machine_is_the_one_that_is_meant_by_local(server):
    here = datetime.fromtimestamp(AT / 1000)
    append(server.access, access(f"{here:%Y/%m/%d %H:%M:%S}.000"))
    assert in_window(server, timezone="local").requests == 1


@pytest.mark.parametrize("local", ["17:15:01.000", "01:15:01.000"])
def test_a_log_whose_last_line_is_of_another_time_hints_at_the_zone(server, local):
    append(server.access, access(clock(local)))
    shown = in_window(server)
    assert shown.requests == 0
    assert "`timezone` is wrong" in read(shown, "access").note


@pytest.mark.parametrize("moment", ["2026-11-01T05:30:00+00:00", "2026-11-01T06:30:00+00:00"])
def test_an_hour_that_a_clock_passes_twice_is_either(server, moment):
    at = int(datetime.fromisoformat(moment).timestamp() * 1000)
    append(server.access, access("2026/11/01 01:30:00.000"))
    book = server.book(bind="window", timezone="America/New_York")
    shown = book.after(book.before(), started_ms=at, ended_ms=at, alone=True)
    assert (shown.requests, read(shown, "access").note) == (1, window.AMBIGUOUS)


@pytest.mark.parametrize(
    "name", ["", "Nowhere/Town", "+25:00", "+08:60", "8", "../../etc/passwd", "America", "a\0b"]
)
def test_a_zone_that_nobody_knows_is_refused(server, name):
    with pytest.raises(UsageError, match="timezone"):
        server.book(timezone=name)


def test_a_window_reaches_back_beyond_what_is_read_first(server):
    many = "".join(access(clock(f"09:15:0{n % 7}.000")) for n in range(2_500))
    append(server.access, access(clock("09:00:00.000")) + many)
    shown = in_window(server)
    assert (shown.requests, read(shown, "access").note) == (2_500, "")


def test_a_window_that_begins_before_what_is_read_at_most_is_told(server):
    append(server.access, (access(clock("09:15:01.000"))[:-1] + "x" * 900_000 + "\n") * 14)
    assert window.LONGER in read(in_window(server), "access").note


def test_a_time_before_which_there_is_none_is_a_time():
    line = "0001/01/01 00:00:00.000 [D] [r]  |ip| 200 | 5s| match| POST /api/chat/completions"
    assert count_ended([line], 0) == 1
    assert count_ended([line, line], 1) == 2  # neither was over when the other began
