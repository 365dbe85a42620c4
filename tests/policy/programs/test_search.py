"""Programs that search: the repository passes, secrets and preprocessors do not."""

from __future__ import annotations

import pytest

from tests.policy.programs.asking import refused

ALLOWED = [
    "rg main",
    "rg -i todo",
    "rg -l main src tests",
    "rg -n 'class \\w+' -g '*.py'",
    "rg --files",
    "rg --files src | head",
    "rg -A2 -B2 main src/app.py",
    "rg -w main --type py",
    "rg -c main | sort",
    "rg --json main src",
    "rg -e foo -e bar src",
    'rg "fn main" -t rust',
    "rg --hidden main -g '!.git'",
    "rg -o 'v\\d+' --no-filename",
    "rg --stats main",
    "rg -v main README.md",
    "rg -U 'def \\w+\\(\\):\\n' src",
    "rg --max-count 1 main",
    "rg -tpy -c def",
    "rg --sort path main",
    "rg -S Main",
    "rg --no-ignore main src",
    "rg --type-list | head",
    "rg -uu main src",
    "grep main src/app.py",
    "grep -n main src/app.py src/util.py",
    "grep -rn main .",
    "grep -rin todo src --include='*.py'",
    "grep -rn --include=*.py main .",
    "grep -E 'foo|bar' README.md",
    "grep -v '^#' requirements.txt",
    "grep -c main src/app.py",
    "grep -l main src/*.py",
    "grep -w main src/app.py",
    "grep -F '$HOME' README.md",
    "grep -rnw src -e main",
    'grep "main$" src/app.py',
    'grep -n "foo\\.bar" src/app.py',
    "grep -o '[a-z]*' README.md | sort | uniq -c",
    "grep -m1 main src/app.py",
    "grep -rL main src",
    "grep --color=never -n main src/app.py",
    "grep -rn 'import' src | awk -F: '{print $1}' | sort -u",
    "egrep 'a|b' README.md",
    "fgrep main src/app.py",
    "rg --version",
    "zgrep main data.gz",
    "grep -n 'a|b;c&d' README.md",
    'grep -n "(" README.md',
    "grep -n 'x{2}' README.md",
    "rg 'foo\\(' src",
    "rg '\\$\\{' src",
    'rg "it\'s" src',
    "grep -e '-x' README.md",
    "grep -- '-x' README.md",
    "rg '^\\s*#' src",
    "grep -n main *.py",
    "rg main --no-heading --line-number",
    "rg --count-matches main",
    "rg -F 'a.b' README.md",
    "rg -g '*.{ts,tsx}' foo",
    "rg foo -g '*.py' -g '!tests/*'",
    "rg -t js -t ts foo",
]
REFUSED = [
    "rg --pre cat x",
    "rg --pre-glob x",
    "rg -z x",
    "rg --search-zip x",
    "rg --hostname-bin=x y",
    "grep . .env",
    "grep -r . ~",
    "grep -r x /",
    "grep -rn x /home",
    "grep -rn x ~/.ssh",
    "grep -r x --include=.env .",
    "grep -r x --include='.e*' .",
    "grep -f .env x",
    "rg x ~",
    "rg -g '.env' x",
    "rg -g '*.pem' x",
    "rg --iglob '.ENV' x",
    "rg x .env",
    "rg -f .env x",
    "rg x /",
    "rg x *",
    "ag --pager x y",
    "ag x ~",
    "zgrep -f x y",
    "zgrep --pre x y",
]


@pytest.mark.parametrize("text", ALLOWED)
def test_what_only_reads_is_allowed(text: str) -> None:
    assert refused(text) is None


@pytest.mark.parametrize("text", REFUSED)
def test_what_may_do_more_is_refused(text: str) -> None:
    assert refused(text) is not None
