"""What of a job stays out of the reach of others; that it does so for real, see
tests/e2e/test_sealed_token.py.
"""

import pytest

from gate.system.sealing import is_in_a_job, nameable, seal_process

JOB = {"INPUT_GITHUB-TOKEN": "t", "ACTIONS_RUNTIME_TOKEN": "r", "input_x": "i"}
TOKENS = {"GITHUB_TOKEN": "t", "GH_TOKEN": "t", "GH_ENTERPRISE_TOKEN": "t", "GITLAB_TOKEN": "t"}
MINE = {"PATH": "/bin", "GITHUB_SHA": "a", "MY_GITHUB_TOKEN": "m", "MY_INPUT_X": "n"}


def test_no_child_inherits_what_is_the_jobs():
    environ = {**JOB, **TOKENS, **MINE}
    assert seal_process(environ, linux=False) == ""
    assert environ == MINE


def test_gate_yml_may_name_a_token_that_the_workflow_gave_and_nothing_of_the_runners():
    assert nameable({**JOB, **TOKENS, **MINE}) == {**TOKENS, **MINE}


@pytest.mark.parametrize(
    ("argv", "env", "sure"),
    [
        (["action"], {}, True),
        (["run"], {"GITHUB_ACTIONS": "true"}, True),
        (["run"], {"GITLAB_CI": "true"}, True),
        (["run"], {}, False),
        ([], {}, False),
    ],
)
def test_a_debugger_may_look_into_it_outside_a_job(argv, env, sure):
    assert is_in_a_job(argv, env) is sure
