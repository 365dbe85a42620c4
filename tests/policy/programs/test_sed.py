"""sed: what prints passes; scripts that write, run or read elsewhere do not."""

from __future__ import annotations

import pytest

from tests.policy.programs.asking import refused

ALLOWED = [
    "sed -n '1,5 p ; $ p' x",
    "sed 's/a/b/ ; s/c/d/' x",
    "sed -n '/a/ { p }' x",
    "sed -n '1,10p' README.md",
    "sed -n 1,10p README.md",
    "sed -n '5p' README.md",
    "sed '1d' README.md",
    "sed -e 's/a/b/' -e 's/c/d/' README.md",
    "sed -n '/start/,/end/p' README.md",
    "sed 's/foo/bar/' README.md | head",
    "sed -E 's/(a|b)/x/g' README.md",
    "sed -n '/def /=' src/app.py",
    "sed '/^$/d' README.md",
    "sed 5q README.md",
    "sed -n -e '1,5p' README.md",
    "sed -n '$=' README.md",
    "sed 's|/|:|g' README.md",
    "sed 's#a#b#' README.md",
    "sed 's/^[ \\t]*//' README.md",
    "sed -n '10,$p' README.md",
    "sed --quiet '1p' README.md",
    "sed 's/.*/\"&\"/' README.md",
    "sed 'y/abc/xyz/' README.md",
    "sed '/foo/!d' README.md",
    "sed -n '1p;3p' README.md",
    "sed -n '1~2p' README.md",
]
REFUSED = [
    "sed 's/a/b/ iw out' x",
    "sed 's/a/b/ ie' x",
    "sed 's/a/b/\tiw out' x",
    "sed 'p i x' x",
    "sed 'y/a/b/ w out' x",
    "sed '1q w x' y",
    "sed -n 'w out' x",
    "sed -n '1w out' x",
    "sed 's/a/b/w out' x",
    "sed 's/a/b/e' x",
    "sed '1e touch x' x",
    "sed 'e' x",
    "sed -f x y",
    "sed --file=x y",
    "sed -ni p x",
    "sed -i.bak p x",
    "sed --in-place=x p y",
    "sed -n 'r .env' x",
    "sed 'R .env' x",
    "sed 's/[/]/b/w out' x",
    "sed 's/a/b/;w out' x",
    "sed '/x/w out' x",
    "sed 's,x,y,w out' x",
    "sed 'sxaxbxw out' x",
    "sed -e 'a\\' -e 'w out' x",
    "sed '1!w out' x",
    "sed '$!{p;w out' x",
    "sed 's/a/b/g;e' x",
    "sed --expression='w out' x",
    "sed 'W out' x",
    "sed '1,2w out' x",
    "sed ':a;w out' x",
    "sed 's/x/y/ w out' x",
    "sed 's/x/y/pw out' x",
    "sed -n p .env",
    "sed -n 1p *",
]


@pytest.mark.parametrize("text", ALLOWED)
def test_what_only_reads_is_allowed(text: str) -> None:
    assert refused(text) is None


@pytest.mark.parametrize("text", REFUSED)
def test_what_may_do_more_is_refused(text: str) -> None:
    assert refused(text) is not None
