"""The warning that no tool can run: for whom it is, and who is left alone."""

import json
from argparse import Namespace

import pytest

from gate.commands import validate
from gate.errors import Place
from gate.records import Config, PluginSpec, Suite
from gate.suites.config.check_provider_key import provider_key


def config(agent="openagent", graders=("tool_evidence",), **options):
    specs = tuple(PluginSpec(name=name) for name in graders)
    place = Place("gate.yml", 3, "agent")
    return Config(
        agent=PluginSpec(name=agent, options=options, place=place),
        suites=(
            Suite(name="plain", dataset="p.jsonl", graders=(PluginSpec(name="contains"),)),
            Suite(name="tool", dataset="t.jsonl", graders=specs),
        ),
    )


@pytest.mark.parametrize(
    ("options", "given", "sure"),
    [
        ({"api_key_env": "OPENAGENT_PROVIDER_KEY"}, False, "may be"),
        ({"api_key_env": "OTHER"}, True, "may be"),
        ({"api_key_env": "OTHER", "key": "provider"}, False, "is"),
    ],
)
def test_a_provider_key_is_told_with_its_place_the_suite_and_the_way_out(options, given, sure):
    (warning,) = provider_key(config(**options), given=given).warnings
    assert warning.startswith(f"gate.yml:3: agent: the key {sure} a provider key")
    assert "calls the model directly, without tools" in warning
    assert "'tool' declare cannot be verified" in warning
    assert warning.endswith("set agent.key: store")
    assert "plain'" not in warning


@pytest.mark.parametrize(
    ("found", "given"),
    [
        (config(api_key_env="OPENAGENT_PROVIDER_KEY", key="store"), True),
        (config(api_key_env="STORE_KEY"), False),
        (config(graders=("contains",), api_key_env="OPENAGENT_PROVIDER_KEY"), True),
        (config(agent="replay", api_key_env="OPENAGENT_PROVIDER_KEY"), True),
        (config(), False),
    ],
)
def test_nothing_is_told_where_tools_can_run_or_nobody_checks_them(found, given):
    assert provider_key(found, given=given).warnings == []


def test_validate_tells_it_too(tmp_path, capsys):
    case = {"id": "a", "input": "q", "output_requirements": {"must_be_valid_json": True}}
    (tmp_path / "t.jsonl").write_text(json.dumps(case) + "\n")
    (tmp_path / "gate.yml").write_text(
        "version: 1\nagent: {type: openagent, key: provider}\n"
        "suites: [{name: tool, dataset: t.jsonl, graders: [tool_evidence]}]\n"
    )
    assert validate.run(Namespace(config=str(tmp_path / "gate.yml"), suite=None), {}) == 0
    assert "warning: gate.yml:2: agent: the key is a provider key" in capsys.readouterr().out
