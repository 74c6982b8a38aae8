import base64

from gate.text.secret_names import secrets_of, secrets_sent


def test_secrets_are_found_by_name_and_by_look():
    env = {
        "MY_CRED": "named-one",
        "OPENAI_API_KEY": "sk-1",
        "GITHUB_TOKEN": "ghs_1",
        "DB_PASSWORD": "p-w",
        "HTTPS_PROXY": "http://user:pass@proxy:3128",
        "NO_PROXY": "localhost",
        "PATH": "/bin",
        "KEYBOARD": "us",
    }
    assert set(secrets_of(env, {"MY_CRED"})) == {"named-one", "sk-1", "ghs_1", "p-w", "user:pass"}


def test_a_word_in_a_header_is_none():
    env = {"USER": "github", "LANG": "en", "CORP": "zebra-1"}
    assert set(secrets_of(env, (), ["github-actions en zebra-1"])) == {"zebra-1"}


def test_credentials_put_together_in_a_header_are_taken_apart():
    encoded = base64.b64encode(b"ci:zebra-1").decode()
    sent = {"headers": {"authorization": f"Basic {encoded}", "x-own": "Bearer zebra-2-of-two"}}
    found = set(secrets_sent({}, [sent]))
    assert found == {encoded, "ci:zebra-1", "zebra-1", "zebra-2-of-two"}


def test_the_password_of_an_address_is_one_wherever_it_comes_from():
    options = [
        {"base_url": "https://me:zebra-1@h/v1?api-version=2024-10-21&api-key=zebra-2"},
        {"url": "https://zebra-of-sixteen-3@h"},
    ]
    hidden = {"me:zebra-1", *(f"zebra-{n}" for n in (1, 2)), "zebra-of-sixteen-3"}
    assert set(secrets_sent({}, options)) == hidden


def test_what_an_agent_is_sent_in_a_header_is_one():
    env = {"CORP": "zebra-1", "EMPTY": "", "PATH": "/bin"}
    assert set(secrets_of(env, (), ["Bearer zebra-1", "plain"])) == {"zebra-1"}


def test_what_fills_a_body_or_an_address_alone_is_one():
    env = {
        "JUDGE_PW": "zebra-1",
        "IN_A_LIST": "zebra-2",
        "USER_PART": "zebra-3",
        "QUERY": "zebra 4/+",
        "RAW_QUERY": "zebra+5",
        "HEADER": "zebra-6",
        "NAMED": "zebra-7",
        "MODEL": "gpt-9",
        "WORD": "Answer",
    }
    judge = {
        "url": "http://me:zebra-1@127.0.0.1/a?k=zebra%204/%2B&r=zebra+5",
        "headers": {"x": "Bearer zebra-6"},
        "api_key_env": "NAMED",
    }
    agent = {
        "base_url": "http://zebra-3@[::1]/v1",
        "body": {"model": "gpt-9", "text": "Answer {{input}}", "auth": ["zebra-2", 1, None]},
    }
    broken = {"url": "http://[", "body": "plain"}
    found = set(secrets_sent(env, [judge, agent, broken]))
    pair = "me:zebra-1"  # as an Authorization header has it
    assert found == {pair, *(value for value in env.values() if value.startswith("zebra"))}
