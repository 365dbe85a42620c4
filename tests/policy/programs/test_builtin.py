"""What the shell does itself, and programs that start others."""

from __future__ import annotations

import pytest

from tests.policy.programs.asking import refused

ALLOWED = [
    "echo hello | tr -d l",
    "echo a b c | tr ' ' '\\n'",
    "echo hello",
    "echo -n hello",
    "echo -e 'a\\tb'",
    "echo 'it'\"'\"'s'",
    'echo "don\'t"',
    'echo "cost: 5$"',
    "echo '$HOME'",
    "printf '%s\\n' hello",
    "printf 'a\\nb\\n' | sort",
    'printf "%d\\n" 42',
    "pwd",
    "pwd -P",
    "test -f README.md",
    "! test -f missing",
    "which git",
    "which -a python3",
    "type ls",
    "command -v git",
    "timeout 5 ls",
    "timeout 30s rg main src",
    "time ls",
    "nice ls",
    "sleep 1",
    'echo "{a,b}"',
    "echo '*'",
]
REFUSED = [
    "printf -v x y",
    "printf -v 'a[$(ls)]' x",
    "printf %n 'a[x]'",
    "printf '%d' 'a[$(ls)]'",
    "printf '%*d' 'a[x]' 1",
    "printf '%(fmt)T' x",
    "printf '%s%n' a b",
    "printf * ",
    "[ -v 'a[$(ls)]' ]",
    "test -v x",
    "[[ -v x ]]",
    "[[ 'a[$(ls)]' -eq 0 ]]",
    "[ x -eq y ]",
    "[ -R x ]",
    "[[ a -nt b ]",
    "[ -f x ] ] ",
    "[ a -lt b ]",
    "test x -gt y",
    "command rm x",
    "command -p rm x",
    "command sh -c x",
    "time rm x",
    "time -o x ls",
    "time -f x -o y ls",
    "timeout 5 rm x",
    "timeout 5 sh -c x",
    "timeout -k 5 5 rm x",
    "timeout --signal=9 5 ls",
    "nice rm x",
    "nice -n 5 rm x",
    "nice -5 ls",
    ": ${x:=y}",
    "timeout 5 asbuilt mode exit",
    "time asbuilt mode exit",
    "command asbuilt mode exit",
    "printf '%s' $x",
    "echo x | bash",
    "echo 'rm x' | sh",
]


@pytest.mark.parametrize("text", ALLOWED)
def test_what_only_reads_is_allowed(text: str) -> None:
    assert refused(text) is None


@pytest.mark.parametrize("text", REFUSED)
def test_what_may_do_more_is_refused(text: str) -> None:
    assert refused(text) is not None
