"""A secret never leaves in any form in which a name or an option calls it one; other text is not touched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.policy.masking import masked, names_a_secret

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
SECRETS = st.text(LETTERS + "!#$%&*+/=?^_~.,:;@-", min_size=8, max_size=40).filter(
    lambda text: text[0].isalnum() and text[-1].isalnum()
)
WORDS = [
    "password", "passwd", "passphrase", "pwd", "secret", "token", "credential", "api_key", "api-key",
    "apiKey", "access_key", "private-key", "client_secret", "clientSecret", "signingKey", "secretKey",
    "authToken", "cookie", "master_key",
]  # fmt: skip
KEYS = st.builds(
    lambda before, word, after, cased: cased(f"{before}{word}{after}"),
    st.sampled_from(["", "db_", "my-", "spring.datasource.", "x_", "MYSQL_"]),
    st.sampled_from(WORDS),
    st.sampled_from(["", "s", "_1", "_prod", "-value", "2"]),
    st.sampled_from([str, str.upper, str.title]),
)
NAMED = [
    "{key}={}", "{key}: {}", "{key} = {}", "{key}:={}", "{key} => {}", "export {key}={} && run",
    "{key}={} cmd", "{key}='{}'", '{key}: "{}"', '"{key}": "{}"', "'{key}': '{}',",
    '{{\\"{key}\\": \\"{}\\"}}', '{key}: "{} and more', '["{key}"] = "{}"', "--{key} {}", "--{key}={}",
    "-{key} {}", '--{key} "{}"', '["cmd", "--{key}", "{}"]', "-D{key}={}", "/x?a=1&{key}={}",
    "<{key}>{}</{key}>", "{key}: |\n  {}", "{key}: >-\n    {}",
]  # fmt: skip
UNNAMED = [
    "mysql -p{} db", "mysql -u root -p{}", "mysqldump -uapp -p'{}' db", "curl -u ada:{} x",
    "curl -sSu ada:{} x", "curl --user ada:{} x", "curl --proxy-user=ada:{} x", "curl -uada:{} x",
    "sshpass -p {} ssh a", "sshpass -p{} ssh", "docker login -u me -p {} host",
    "helm registry login -p {} host", "redis-cli -a {} ping", "unzip -P {} a.zip", '["mysql", "-p{}"]',
    '["curl", "-u", "a:{}"]', "['sshpass', '-p', '{}']", "Authorization: Basic {}",
    "curl -H 'Authorization: token {}' x", "Proxy-Authorization: Digest {}", "Cookie: a=b; sid={}",
    "Set-Cookie: s={}; Path=/", "bearer {}", "machine h login u password {}",
    "machine h\n  login u\n  password {}", "default login u password {}", "password {}",
    "CREATE ROLE a PASSWORD '{}'", "postgres://u:{}@db/x", "https://{}@host/x.git", "DB_PWD={}",
    "PGPASSWORD={} psql", "SMTP_PASS={}", "//host/:_authToken={}", "_auth={}", "Server=db;Uid=sa;Pwd={};",
    "AccountKey={};EndpointSuffix=x", "wget --http-password={} x", "x --pass {}",
]  # fmt: skip
AROUND = st.sampled_from(["", "$ ", "+ ", "2026-01-02T03:04:05Z [info] ", "ran: "])
ORDINARY = """\
PASS: test_a (0.02s)
3 pass, 0 fail, 1 skip
max_tokens: 4096, input_tokens=120
tokens: 1,200
tokenizer = Tokenizer()
secretary: Ann
mkdir -p a/b && cp -p x y && tar -xpf a.tar
ssh -p 22 host
docker run -u 1000:1000 -p 80:80 image
SyntaxError: Unexpected token '<' at line 3
let t = Token::new(kind);
https://registry.example/@types/node/-/node-1.0.tgz
the password must be changed
Enter the token that you were given
PWD=/srv/shop OLDPWD=/srv
TOKEN_FILE=/run/token app --password-stdin
docker login --password-stdin host
cache_key: abc primary_key=True foreign-key: id
git log -p -u HEAD~1 -- src/auth/token.py
4f1c9a2b7d3e8f60514233a1b2c3d4e5f6071829  src/app.py
def compass(bypass=1): return passage
curl -sSL https://example.com/x -o y
mysql --version; redis-cli ping; zip -r a.zip src
author: Ada, keyboard: us, key: value
authentication failed for user x
login page rendered: 200
http 200 OK
tests/policy/test_secrets.py::test_a_token_is_kept PASSED [ 12%]
src/passwords/reset.py:14: error: Name "x" is not defined
commit 4f1c9a2 (HEAD -> main, origin/main) fix: keys are sorted""".splitlines()


@given(AROUND, st.sampled_from(NAMED), KEYS, SECRETS)
def test_a_value_that_a_name_calls_a_secret_is_masked(before: str, form: str, key: str, secret: str) -> None:
    assert secret not in masked(f"{before}{form.format(secret, key=key)}\nend")


@given(AROUND.filter(lambda text: not text.startswith("ran")), st.sampled_from(UNNAMED), SECRETS)
def test_a_value_that_a_program_or_a_file_takes_as_a_secret_is_masked(
    before: str, form: str, secret: str
) -> None:
    start = "" if form.startswith("password") else before
    assert secret not in masked(f"{start}{form.format(secret)}\nend")


@given(st.lists(st.sampled_from(ORDINARY), max_size=6).map("\n".join))
def test_ordinary_lines_stay_as_they_are_in_any_order(text: str) -> None:
    assert masked(text) == text


@pytest.mark.parametrize("line", ORDINARY)
def test_an_ordinary_line_stays_as_it_is(line: str) -> None:
    assert masked(line) == line


def test_what_stands_around_a_secret_stays_readable() -> None:
    assert [
        masked(text)
        for text in (
            "mysql -u root -phunter22 shop < dump.sql",
            "curl -s -u ada:hunter22 https://example.com/x",
            'run --db-password hunter22 --verbose; {"token": "a b", "n": 1}',
            "machine example.com login ada password hunter22 # mine",
        )
    ] == [
        "mysql -u root -p[secret] shop < dump.sql",
        "curl -s -u [secret] https://example.com/x",
        'run --db-password [secret] --verbose; {"token": [secret], "n": 1}',
        "machine example.com login ada password [secret] # mine",
    ]


@pytest.mark.parametrize("name", ["token_file", "tokenizer", "PWD", "pass", "key", "cache_key", "secretary"])
def test_a_name_that_only_resembles_a_secrets_is_none(name: str) -> None:
    assert not names_a_secret(name)


@pytest.mark.parametrize(
    "text", ["password " * 8_000, "--token " * 8_000, "mysql " * 8_000, "a_key=" * 8_000]
)
def test_a_long_line_is_masked_in_a_pass(text: str) -> None:
    assert masked(f"{text}\nsecret=hunter22").endswith("\nsecret=[secret]")
