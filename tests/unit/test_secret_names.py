from gate.secret_names import secrets_of


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


def test_what_an_agent_is_sent_in_a_header_is_one():
    env = {"CORP": "zebra-1", "EMPTY": "", "PATH": "/bin"}
    assert set(secrets_of(env, (), ["Bearer zebra-1", "plain"])) == {"zebra-1"}
