"""What is nobody else's business never survives the redaction, wherever it was planted."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from asbuilt.policy.redaction import Redaction, secrets_in

SALT = b"0123456789abcdef"
ADAS = Redaction(
    homes=("/home/ada",),
    names=(("ada", "[user]"), ("lovelace", "[host]")),
    secrets=("correct horse",),
    salt=SALT,
)


def _chance(seed: int, alphabet: str, length: int) -> str:
    """Make a text that looks random, out of any seed."""
    return "".join(random.Random(seed).choices(alphabet, k=length))  # noqa: S311 - it is to be masked, not to hold


LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
DIGITS = "0123456789"
SEEDS = st.integers(0, 2**64)
RANDOM = st.one_of(
    st.builds(_chance, SEEDS, st.just(LETTERS + DIGITS), st.integers(24, 80)),
    st.builds(_chance, SEEDS, st.just(LETTERS + DIGITS + "+/"), st.integers(24, 80)),
    st.builds(_chance, SEEDS, st.just(LETTERS + DIGITS + "-_"), st.integers(24, 80)),
    st.builds(_chance, SEEDS, st.just("0123456789abcdef"), st.integers(32, 128)),
)
SHORT = st.builds(_chance, SEEDS, st.just(LETTERS + DIGITS), st.integers(16, 40))
KNOWN = st.one_of(
    st.builds(
        str.__add__,
        st.sampled_from(
            [
                "ghp_",
                "gho_",
                "github_pat_",
                "glpat-",
                "sk-ant-api03-",
                "sk-proj-",
                "sk_live_",
                "xoxb-",
                "npm_",
                "pypi-",
                "hf_",
                "AIzaSyA-",
            ]
        ),
        SHORT,
    ),
    SHORT.map(lambda text: f"AKIA{text.upper()[:16]}"),
    st.builds(lambda a, b: f"eyJ{a}.eyJ{b}.{a}", SHORT, SHORT),
    RANDOM.map(
        lambda text: f"-----BEGIN OPENSSH PRIVATE KEY-----\n{text}\n-----END OPENSSH PRIVATE KEY-----"
    ),
)
PASSWORDS = st.text(LETTERS + DIGITS + "!#$%&*,.:;@_-", min_size=6, max_size=30).filter(
    lambda text: text[0].isalnum()
)
AROUND = st.text(st.characters(codec="utf-8"), max_size=12)
# What stands directly beside a random text must not be more of the same, or it is another text.
APART = st.sampled_from(["", " ", '"', "'", "(", "\n", ": ", "@ ", ",", "漢", "=> "])
VALUES = st.recursive(
    AROUND,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(AROUND, inner, max_size=3),
    max_leaves=4,
)


@given(AROUND, APART, RANDOM | KNOWN, APART, AROUND)
def test_a_planted_key_never_survives(before: str, near: str, secret: str, far: str, after: str) -> None:
    told = ADAS.text(f"{before} {near}{secret}{far} {after}")
    assert secret not in told
    lines = [line for line in secret.split("\n") if not line.startswith("-----")]
    assert not any(line in told for line in lines)


@given(
    AROUND,
    st.sampled_from(
        [
            "postgresql://ada:{}@db/asbuilt", "https://{}@example.com/x.git", "Authorization: Basic {}",
            "bearer {}", "DB_PASSWORD={}", "export API_KEY='{}'", '"client_secret": "{}"', "token => {}",
            "aws_secret_access_key = {}", "--password {}".replace(" ", "="),
        ]
    ),
    PASSWORDS,
)  # fmt: skip
def test_a_password_never_survives_where_it_is_called_one(before: str, place: str, password: str) -> None:
    told = ADAS.text(f"{before}\n{place.format(password)}\nend").replace("[secret]", "")
    assert password not in told or password in before + place


@given(st.sampled_from(["token", "apiKey", "db-password", "SECRET", "signing_key"]), PASSWORDS)
def test_a_value_under_a_secrets_name_is_masked_whole(name: str, password: str) -> None:
    assert ADAS.value([{name: password, "key": "kept"}]) == [{name: "[secret]", "key": "kept"}]


@given(VALUES, RANDOM)
def test_a_key_in_any_depth_of_json_is_masked(value: Any, secret: str) -> None:  # noqa: ANN401
    told = json.dumps(ADAS.value([{"a": [value, {"b": f"x {secret}"}], f"k {secret}": 1}]))
    assert secret not in told


@given(
    AROUND,
    st.sampled_from(["ada", "Ada", "lovelace", "LOVELACE", "ada@example.com", "correct horse"]),
    AROUND,
)
def test_names_addresses_and_known_secrets_never_survive(before: str, name: str, after: str) -> None:
    told = ADAS.text(f"{before} {name} {after}")
    assert name not in f" {told} ".replace(before, "").replace(after, "") or name in before + after


@given(AROUND, AROUND)
def test_the_home_folder_is_a_tilde(before: str, after: str) -> None:
    assert "/home/ada" not in ADAS.text(f"{before}/home/ada/{after}").replace(before, "").replace(after, "")


@given(RANDOM, RANDOM)
def test_one_mask_stands_for_one_text_and_for_no_other(one: str, other: str) -> None:
    masks = [ADAS.text(text) for text in (one, f"{one}", other)]
    assert masks[0] == masks[1]
    assert (masks[0] == masks[2]) == (one == other)


def test_another_bundle_has_other_masks() -> None:
    text = "01j9zq4v7m8k2x5n3p6r1t0w9y"
    others = Redaction(homes=(), names=(), secrets=(), salt=b"fedcba9876543210")
    assert ADAS.text(text) != others.text(text) != text


@pytest.mark.parametrize(
    "text",
    [
        "tests/limits/test_store.py::test_two_workers_share_one_bucket FAILED",
        "refs/heads/cp-rate-limit is not on main; 12 files changed, 3 insertions(+)",
        "uv run pytest tests/limits/test_store.py -q",
        "class TestTwoWorkersShareOneBucket in src/api/limits/middleware/redis_store.py",
        "2026-11-14T21:06:02Z rate-limit.1.2a.2 implementing, attempt 1, exit 0",
        "Linux-6.18.44-x86_64-with-glibc2.36, Python 3.11.7, git 2.39.5",
        "the canada goose adapts; total 12 of 14",
        "kernel.apparmor_restrict_unprivileged_userns is 1",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert ADAS.text(text) == text


def test_a_text_of_everything() -> None:
    text = """\
ada@lovelace:/home/ada/shop-api$ asbuilt run rate-limit
clone https://ada:hunter22@git.example.com/shop.git as Ada Byron <ada.byron@example.com>
/home/ada/.config/asbuilt/config.toml, /home/adam/other
ANTHROPIC_API_KEY=sk-ant-api03-abcdefghijklmnop "password": "pass word", correct horse
commit 4f1c9a2b7d3e8f60514233a1b2c3d4e5f6071829 and again 4f1c9a2b7d3e8f60514233a1b2c3d4e5f6071829
"""
    assert ADAS.text(text) == snapshot("""\
[user]@[host]:~/shop-api$ asbuilt run rate-limit
clone https://[secret]@git.example.com/shop.git as [user] Byron <[e-mail]>
~/.config/asbuilt/config.toml, /home/adam/other
ANTHROPIC_API_KEY=[secret] "password": [secret], [secret]
commit [masked 017d6940] and again [masked 017d6940]
""")


@pytest.mark.parametrize("line", ["a" * 60_000, "a." * 30_000, "://" * 20_000, "token" * 12_000])
def test_a_line_of_any_length_is_masked_without_looking_back_for_ever(line: str) -> None:
    assert ADAS.text(f"{line} ada").endswith(" [user]")


def test_the_environment_names_its_own_secrets() -> None:
    environ = {
        "ANTHROPIC_API_KEY": "abcdef",
        "GH_TOKEN": "short",
        "DB_PASSWORD": "hunter22",
        "STRIPE_KEY": "123456",
        "PATH": "/usr/bin",
        "HOME": "/home/ada",
    }
    assert secrets_in(environ) == ("abcdef", "hunter22", "123456")
