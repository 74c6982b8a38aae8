"""What variables of CI hold, as trufflehog and gitleaks list it, and the documents of those who
give keys out. No value was ever given out.
"""

import base64
import json

import pytest

from gate.text.credentials import holds_connections, is_ordinary, looks_secret, words_of
from gate.text.redaction import Redactor
from gate.text.secret_names import secrets_of

HEX = "0f3c9d2e7a1b4c5d8e6f0a9b1c2d3e4f"
LONG = "Zq7LmW4tRb8KcV1n9fQ2xs6Yp3"
PEM = f"-----BEGIN EC PRIVATE KEY-----\n{LONG * 2}\n{HEX}{HEX}\n-----END EC PRIVATE KEY-----\n"


def b64(text):
    return base64.b64encode(text.encode()).decode()


SECRET = {  # variable -> its value, and what of it must not be seen
    "GITHUB_PAT": (f"x{LONG}", [f"x{LONG}"]),
    "OPENAI_KEY_PROD": (LONG, [LONG]),
    "DB_PASSWORD_2": ("trub4dor&3", ["trub4dor&3"]),
    "PGPASSWORD": ("trub4dor&3", ["trub4dor&3"]),
    "MYSQL_PWD": ("trub4dor&3", ["trub4dor&3"]),
    "dbPassword": ("trub4dor&3", ["trub4dor&3"]),
    "ANSIBLE_VAULT_PASS": ("zebrafishes", ["zebrafishes"]),
    "STRIPE_TOKEN_V2_STAGING": (LONG, [LONG]),
    "SECRET_KEY_BASE": (HEX, [HEX]),
    "APPLE_CREDENTIALS": (LONG, [LONG]),
    "AWS_ACCESS_KEY_ID": (f"AKIA{HEX[:16].upper()}", [f"AKIA{HEX[:16].upper()}"]),
    "AWS_SECRET_ACCESS_KEY": (f"{LONG}/{HEX[:12]}+", [f"{LONG}/{HEX[:12]}+"]),
    "AWS_SESSION_TOKEN": (f"IQoJ{LONG * 5}==", [f"IQoJ{LONG * 5}=="]),
    "API_KEYS": (f"{LONG}1,{LONG}2", [f"{LONG}1", f"{LONG}2"]),
    "HTTPS_PROXY": ("http://me:p%40ss-w0rd@proxy.corp:3128", ["p%40ss-w0rd", "p@ss-w0rd"]),
    "http_proxy": ("me:p-w0rds@proxy:3128", ["p-w0rds", "me:p-w0rds", b64("me:p-w0rds")]),
    "DATABASE_URL": ("postgres://app:S3cr3t-dbs@db:5432/x?sslmode=on", ["S3cr3t-dbs"]),
    "REDIS_TLS_URL": ("rediss://:S3cr3t-dbs@cache:6380", ["S3cr3t-dbs"]),
    "MONGO_CONNECTION": ("mongodb+srv://app:S3cr3t@dbs@c0.x.net/", ["S3cr3t@dbs"]),
    "JDBC_URL": ("jdbc:postgresql://h/db?user=app&password=S3cr3t-dbs", ["S3cr3t-dbs"]),
    "MYSQL_DSN": ("app:S3cr3t-dbs@tcp(db:3306)/x?parseTime=true", ["S3cr3t-dbs"]),
    "PG_DSN": ("host=db user=app password='S3cr3t dbs' dbname=x", ["S3cr3t dbs"]),
    "ConnectionString": ("Server=db;User ID=sa;Password=S3cr3t-dbs;", ["S3cr3t-dbs"]),
    "AZURE_STORAGE_CONNECTION_STRING": (
        f"DefaultEndpointsProtocol=https;AccountName=a;AccountKey={LONG}{LONG}==;",
        [f"{LONG}{LONG}=="],
    ),
    "SERVICEBUS_CONNECTION": (
        f"Endpoint=sb://a.x.net/;SharedAccessKeyName=Root;SharedAccessKey={LONG}=",
        [f"{LONG}="],
    ),
    "BLOB_URL": (f"https://a.blob.x.net/c?sv=2024-11-04&sig={LONG}%3D", [f"{LONG}="]),
    "SENTRY_DSN": (f"https://{HEX}@o4501.ingest.sentry.io/4501", [HEX]),
    "SHORT_DSN": ("https://abc123d@errors.corp/4", ["abc123d"]),
    "WITHIN": (
        f"curl -H 'Authorization: Basic {b64('ci-bot:secret-word')}'",
        ["ci-bot:secret-word"],
    ),
    "SLACK_WEBHOOK_URL": (
        f"https://hooks.slack.com/services/T0AB12CD3/B0AB12CD3/{LONG[:24]}",
        [LONG[:24], f"services/T0AB12CD3/B0AB12CD3/{LONG[:24]}"],
    ),
    "DISCORD_WEBHOOK": (f"https://discord.com/api/webhooks/1180/{LONG}", [LONG]),
    "MS_TEAMS_WEBHOOK_URI": (f"https://x.webhook.office.com/webhookb2/{HEX}@a/b/{LONG}", [LONG]),
    "BASIC_AUTH": (f"Basic {b64('ci-bot:trub4dor&3')}", ["ci-bot:trub4dor&3", "trub4dor&3"]),
    "UPSTREAM_HEADERS": (
        f"Authorization=Basic%20{b64('ci-bot:trub4dor&3')},x=1",
        [b64("ci-bot:trub4dor&3").rstrip("="), "trub4dor&3"],
    ),
    "OTEL_EXPORTER_OTLP_HEADERS": (f"api-key={LONG},x-env=prod", [LONG]),
    "CURL_OPTS": (f"-H 'Authorization: Bearer {LONG}' --retry 3", [LONG]),
    "JAVA_OPTS": ("-Xmx1g -DkeyStorePassword=S3cr3t-dbs -Dx=y", ["S3cr3t-dbs"]),
    "PIP_EXTRA_INDEX_URL": (f"https://__token__:pypi-{LONG}@pypi.corp/simple", [f"pypi-{LONG}"]),
    "GIT_REMOTE": (f"https://{LONG}:x-oauth-basic@github.com/a/b.git", [LONG]),
    "DOCKER_AUTH_CONFIG": (
        json.dumps({"auths": {"ghcr.io": {"auth": b64("ci-bot:trub4dor&3")}}}),
        [b64("ci-bot:trub4dor&3"), "trub4dor&3"],
    ),
    "GCP_SA_KEY": (json.dumps({"type": "service_account", "private_key": PEM}), [PEM, LONG * 2]),
    "DEPLOY_KEY": (PEM, [PEM, LONG * 2, f"{HEX}{HEX}"]),
    "KUBECONFIG_B64_SECRET": (b64(f"users: [{{token: {LONG}}}]"), [LONG]),
    "HARMLESS": (f"ghp_{LONG}{HEX[:10]}", [f"ghp_{LONG}{HEX[:10]}"]),
    "ALSO_HARMLESS": (f"--key sk-proj-{LONG}", [f"sk-proj-{LONG}"]),
    "SOME_JWT_OF_OURS": (f"eyJ{LONG}.eyJ{LONG}.{LONG}", [f"eyJ{LONG}.eyJ{LONG}.{LONG}"]),
    "CLONE": (f"https://x-access-token:ghs{LONG}@github.com/a/b", [f"ghs{LONG}"]),
}
ORDINARY = {
    "DB_PASSWORD": "postgres",
    "API_KEY": "ollama",
    "OPENAI_API_KEY": "not-needed",
    "VLLM_API_KEY": "EMPTY",
    "LITELLM_KEY": "sk-no-key-required",
    "USE_TOKEN": "true",
    "MAX_TOKEN": "4096",
    "TLS_KEY": "/etc/ssl/private/server.pem",
    "GOOGLE_APPLICATION_CREDENTIALS": "./keys/service-account.json",
    "PRIVATE_KEY": "~/.ssh/id_ed25519",
    "BUILD_DATE_KEY": "2026-11-22",
    "DB_SECRET": "${DB_SECRET}",
    "MASKED_TOKEN": "***********",
    "SIGNING_KEY_NAME": "release-key-of-2026",
    "SECRET_NAME": "prod/agent/openai-key",
    "TOKEN_ENDPOINT": "https://login.example.com/oauth2/v2.0/token",
    "SSH_AUTH_SOCK": "/tmp/ssh-XXXX/agent.1",
    "AUTH0_DOMAIN": "team-1.eu.auth0.com",
    "KEYBOARD": "us-international-1",
    "SSH_PUBLIC_KEY": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5",
    "PWD": "/home/runner/work/a/b",
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "AWS_REGION": "eu-central-1",
    "AWS_DEFAULT_OUTPUT": "json",
    "IMAGE": "python:3.12-slim@sha256:" + HEX,
    "GITHUB_SHA": HEX,
    "BASE_URL": "http://127.0.0.1:14000/v1?api-version=2024-10-21",
    "TITLE": "Add basic authentication; password: comparisons, http://a:comparisons@b.c",
}


@pytest.mark.parametrize("name", SECRET)
def test_what_a_variable_holds_is_not_seen(name):
    value, hidden = SECRET[name]
    redact = Redactor(secrets_of({name: value, "PATH": "/bin"}, ())).redact
    for text in (value, *hidden):
        shown = redact(f"It said: {text} - so far")
        assert shown.startswith("It said: ")
        assert shown.endswith(" - so far")
        assert [one for one in hidden if one in shown] == []
        assert "***" in shown


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_values_are_no_secrets(name):
    value = ORDINARY[name]
    assert [*secrets_of({name: value}, ())] == []
    assert [one for one in secrets_of({name: value}, [name]) if is_ordinary(one)] == []


def test_names_are_read_word_by_word():
    assert words_of("slackWebhook_URL2") == ["SLACK", "WEBHOOK", "URL"]
    assert words_of("INPUT_PROVIDER-KEY") == ["INPUT", "PROVIDER", "KEY"]
    assert looks_secret("MYKEY")
    assert not looks_secret("MONKEYPATCH")
    assert not looks_secret("")
    assert holds_connections("CELERY_BROKER_URL")
    assert not holds_connections("GITHUB_HEAD_REF")


def test_hostile_values_take_no_time():
    for sign in ("a:", "//", "=", "key=", "://a:", "@", "{", "Basic ", "eyJ", "-"):
        value = sign * (100_000 // len(sign))
        assert isinstance([*secrets_of({"A_URL": value, "B_KEY": value, "C": value}, ())], list)
