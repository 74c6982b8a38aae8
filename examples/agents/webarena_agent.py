"""Plays one task of WebArena with a browser loop of yours and prints what came of it: a `command`
agent for Agent Gate.

gate.yml:

    agent:
      type: command
      command: [python, examples/agents/webarena_agent.py, --loop, "my_agent.loop:run"]
      env: [OPENAI_API_KEY]
      timeout_s: 900
      concurrency: 1   # the sites have one state for all
    suites:
      - name: webarena
        dataset: datasets/webarena.jsonl
        graders: [webarena]

The dataset is made of the benchmark's own list of tasks:

    gate import webarena config_files/test.raw.json --dataset datasets/webarena.jsonl \
        --option 'sites={"shopping": "http://localhost:7770", "reddit": "http://localhost:9999"}'

`--loop module:function` names what you have: function(task) works until it is done and returns a
mapping with `answer` (a text) and `page`, the page where it ended, as Playwright's sync API has it:
url, content(), goto(url), evaluate(js). If it has `close`, that is called at the end; `steps`,
`usage`, `model`, `cost_usd`, `finish_reason` are passed on. What the task is judged by is not in
`task`.

Then the pages that the task is judged by are looked at, as the benchmark does: what its locators
find becomes `state`, by which the grader `webarena` judges. A few tasks ask the shop's REST
interface with an administrator's token: `--helpers module:NAME` names a mapping of your functions
by the benchmark's names for them (shopping_get_latest_order_url, ...). Without it those tasks are
not evaluable.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib
import json
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlparse

JUDGED_BY = ("eval", "reference_action_sequence", "string_note")
PASSED_ON = ("steps", "usage", "model", "cost_usd", "finish_reason")
ROLE = """() => {
  const names = [...document.querySelectorAll(
    "td[data-label='Account'] span.gl-avatar-labeled-sublabel")].map((one) => one.outerText);
  const role = document.querySelectorAll("td.col-max-role span")[names.indexOf(%s)];
  return role ? role.outerText : "";
}"""


def options(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="one task of WebArena")
    parser.add_argument("--loop", required=True, help="module:function, your browser loop")
    parser.add_argument("--helpers", help="module:NAME, functions for the shop's REST interface")
    parser.add_argument("--settle", type=float, default=3.0, help="seconds a page is waited for")
    return parser.parse_args(argv)


def named(path: str) -> Any:
    """What `module:name` stands for. Ends the program in a sentence where it is not there."""
    module, _, name = path.partition(":")
    sys.path.insert(0, "")  # the folder of gate.yml
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        sys.exit(f"{path} cannot be imported: {error}")


def post_url(address: str) -> str:
    """Of a page in a post of the forum the post's own address."""
    parsed = urlparse(address)
    path = parsed.path.split("/")
    if len(path) < 4 or path[1] != "f":
        return address
    return f"{parsed.scheme}://{parsed.netloc}/f/{path[2]}/{path[3]}/"


def member_role(page: Any, name: str) -> str:
    try:
        return str(page.evaluate(ROLE % json.dumps(f"@{name}")))
    except Exception:  # another page than that of the members
        return ""


OWN: Mapping[str, Callable[..., str]] = {
    "reddit_get_post_url": post_url,
    "gitlab_get_project_memeber_role": member_role,
}


def called(written: str, page: Any, functions: Mapping[str, Callable[..., str]]) -> str | None:
    """What `func:name('argument', __page__)` gives; None where nobody has that function."""
    call = ast.parse(written.removeprefix("func:").strip(), mode="eval").body
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        return None
    function = functions.get(call.func.id)
    arguments = [page if isinstance(one, ast.Name) else ast.literal_eval(one) for one in call.args]
    arguments = [page.url if one == "__last_url__" else one for one in arguments]
    return None if function is None else str(function(*arguments))


def located(target: Mapping[str, Any], page: Any) -> str:
    """What a script on the page gives as text; empty where it fails."""
    with contextlib.suppress(Exception):
        for prepare in target.get("prep_actions", ()):
            page.evaluate(f"() => {prepare}")
    try:
        return str(page.evaluate(f"() => {target['locator']}"))
    except Exception:  # the element is not there: the task was not done
        return ""


def looked_at(
    case: Mapping[str, Any], page: Any, functions: Mapping[str, Callable[..., str]], settle: float
) -> dict[str, Any]:
    """The state that the grader reads; the page is led through the task's targets."""
    state: dict[str, Any] = {"final_url": page.url, "locator_results": {}}
    checks = case.get("eval") or {}
    if "program_html" not in checks.get("eval_types", ()):
        return state
    for n, target in enumerate(checks["program_html"]):
        url, locator = target["url"], target["locator"].strip()
        if url.startswith("func:"):
            url = called(url, page, functions)
            if url is None:
                break  # where the browser is from here on would be a guess
        if url != "last":
            page.goto(url)
            time.sleep(settle)
        if locator.startswith("func:"):
            found = called(locator, page, functions)
        else:
            found = located(target, page) if locator else page.content()
        if found is not None:
            state["locator_results"][str(n)] = found
    return state


def played(chosen: argparse.Namespace, case: Mapping[str, Any]) -> dict[str, Any]:
    task = {key: value for key, value in case.items() if key not in JUDGED_BY}
    functions = {**OWN, **(named(chosen.helpers) if chosen.helpers else {})}
    done = named(chosen.loop)(task)
    try:
        state = looked_at(case, done["page"], functions, chosen.settle)
    finally:
        done.get("close", lambda: None)()
    passed_on = {key: done[key] for key in PASSED_ON if done.get(key) is not None}
    return {"answer": done.get("answer") or "", **passed_on, "state": state}


def main(argv: list[str]) -> None:
    with contextlib.redirect_stdout(sys.stderr):  # what a loop prints is no part of the answer
        found = played(options(argv), json.load(sys.stdin))
    print(json.dumps(found, default=str))


if __name__ == "__main__":
    main(sys.argv[1:])
