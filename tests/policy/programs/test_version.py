"""Compilers and interpreters: their version, and nothing else."""

from __future__ import annotations

import pytest

from tests.policy.programs.asking import refused

ALLOWED = [
    "python3 --version",
    "python --version",
    "node --version",
    "node -v",
    "npm --version",
    "cargo --version",
    "go version",
    "rustc --version",
    "ruby --version",
    "gcc --version",
    "make --version",
    "bash --version",
    "docker --version",
]
REFUSED = [
    "java -version",
    "pip --version",
    "bash -c ls",
    "bash x",
    "python3 -c 1",
    "python3 x",
    "python3 -m x",
    "python3 --version -c x",
    "node -e 1",
    "node -v x",
    "npm run x",
    "npm ls",
    "pip list",
    "cargo build",
    "go run x",
    "go env -w x",
    "make",
    "make -n",
    "perl -e 1",
    "perl -v -e 1",
    "ruby -e 1",
    "java -jar x",
    "java -version -jar x",
    "javac -version x",
    "docker ps",
]


@pytest.mark.parametrize("text", ALLOWED)
def test_what_only_reads_is_allowed(text: str) -> None:
    assert refused(text) is None


@pytest.mark.parametrize("text", REFUSED)
def test_what_may_do_more_is_refused(text: str) -> None:
    assert refused(text) is not None
