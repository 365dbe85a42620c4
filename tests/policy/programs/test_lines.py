"""Whole lines: how commands are joined, redirected and moved to another folder."""

from __future__ import annotations

import pytest

from tests.policy.programs.asking import refused

ALLOWED = [
    "find / -maxdepth 1 2>/dev/null",
    "rg main src 2>/dev/null | head -5",
    "grep -q main src/app.py && echo yes",
    'echo "a && b"',
    'echo "a > b"',
    "cd src",
    "cd src && pwd",
    "cd src && git log --oneline -1",
    "cd ./src && ls && cat app.py",
    "cd tests; ls",
    "ls; pwd; whoami",
    "ls || true",
    "true && echo ok",
    "false || echo no",
    "[ -f README.md ] && echo yes",
    "[ -f README.md ] || echo no",
    "test -d src && ls src",
    "[ 1 -eq 1 ] && echo same",
    '[ "a" = "a" ] && echo same',
    "[[ -d src ]] && echo dir",
    '[[ "a" == "a" ]] && echo same',
    "[[ ! -f x ]] && echo none",
    "command -v node >/dev/null 2>&1 && node --version",
    "ls > /dev/null",
    "ls &> /dev/null",
    "ls >/dev/null 2>&1",
    "cat missing 2> /dev/null || true",
    "grep -r main src 2>/dev/null | wc -l",
    "ls missing 2>&1",
    "ls 2>&1 | head -1",
    "ls 1>/dev/null",
    "sleep 0.5; ls",
    'cat README.md; echo "---"; cat CHANGELOG.md',
    'echo "=== src ===" && ls src && echo "=== tests ===" && ls tests',
]
REFUSED = [
    "cd evil.git && git status",
    "cd evil.git; git log",
    "[[ x && touch y ]]",
    "[[ x == y && touch == z ]]",
    "type -a x; rm y",
    "command -v x; rm y",
    "function ls { rm; }",
    "ls() { rm; }",
    ": > x",
    "true > x",
    "ls > x",
    "ls >> x",
    "ls 2> x",
    "ls &> x",
    "ls >& x",
    "ls >| x",
    "ls 2>&1 > x",
    "ls <> x",
    "ls > /dev/null/x",
    "ls > /dev/nullx",
    "ls > /dev/../x",
    "ls >$x",
    "asbuilt status && rm x",
    "asbuilt status; ls",
    "asbuilt status > /tmp/x",
    "cd /",
    "cd ..",
    "cd ~",
    "cd",
    "cd -",
    "cd $x",
    "cd src/../..",
    "cd /etc && cat shadow",
    "cd src && cat ../.env",
    "cd ~/.ssh && cat id_rsa",
    "cd . && cd ..",
    "cd src && cd .. && cd ..",
    "cd nosuch; cat .env",
    "cd -P /",
    "ls *; rm x",
    "pr x > y",
    "id; rm x",
    "who am i; rm x",
    "numfmt --from=x y > z",
    "locale -a; export x",
    "getconf -a; rm y",
    "lsblk; rm y",
]


@pytest.mark.parametrize("text", ALLOWED)
def test_what_only_reads_is_allowed(text: str) -> None:
    assert refused(text) is None


@pytest.mark.parametrize("text", REFUSED)
def test_what_may_do_more_is_refused(text: str) -> None:
    assert refused(text) is not None
