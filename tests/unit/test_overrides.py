from gate.overrides import apply
from gate.records import Config, PluginSpec
from gate.secret_names import secrets_of


def test_inputs_of_the_action_beat_gate_yml():
    config = Config(agent=PluginSpec(name="sample"), suites=(), policy_set=("error",))
    given = {"policy.no_baseline": "fail", "baseline.branch": "trunk", "sample": "all"}
    changed = apply(config, given)
    assert changed.policy.no_baseline == "fail"
    assert changed.policy.error == config.policy.error
    assert changed.policy_set == ("error", "no_baseline")
    assert changed.baseline.branch == "trunk"


def test_nothing_given_nothing_changed():
    config = Config(agent=PluginSpec(name="sample"), suites=())
    assert apply(config, {}) == config


def test_secrets_are_found_by_name_and_by_look():
    env = {
        "MY_CRED": "named-one",
        "OPENAI_API_KEY": "sk-1",
        "GITHUB_TOKEN": "ghs_1",
        "DB_PASSWORD": "pw",
        "HTTPS_PROXY": "http://user:pass@proxy:3128",
        "NO_PROXY": "localhost",
        "PATH": "/bin",
        "KEYBOARD": "us",
    }
    assert set(secrets_of(env, {"MY_CRED"})) == {"named-one", "sk-1", "ghs_1", "pw", "user:pass"}
