"""Commands that are run for each of many files: xargs and find -exec."""

from __future__ import annotations

import pytest

from tests.policy.programs.asking import refused

ALLOWED = [
    "find . -name '*.py' | xargs wc -l",
    "find . -name '*.py' -print0 | xargs -0 grep -n main",
    "git ls-files '*.py' | xargs grep -n main",
    "git ls-files | xargs wc -l",
    "find src -name '*.py' -exec grep -n main {} +",
    "find src -name '*.py' -exec wc -l {} \\;",
    "find . -type f -exec ls -l {} +",
    "rg -l main | xargs ls -la",
    "ls | xargs -n1 basename",
]
REFUSED = [
    "find . -type f | xargs cat",
    "find . -name .env | xargs cat",
    "echo .env | xargs cat",
    "find . -name '.e*' -exec cat {} \\;",
    "find . -name '.*' -exec cat {} +",
    "find . -name '*' -exec rm {} +",
    "find . -exec sh -c 'x' {} \\;",
    "find . -execdir touch {} +",
    "find ~ -name x | xargs cat",
    "find / -exec cat {} +",
    "find . -regex '.*env' -exec cat {} +",
    "find . -name x -exec cat .env {} +",
    "find . -name x -exec cat {} + -delete",
    "find . -exec cat {} + -exec rm {} +",
    "find . -exec {} +",
    "find . -exec cat {}",
    "find . -exec cat x \\; ",
    "find . -exec grep -f .env {} +",
    "find . -name '*.pem' | xargs head",
    "git ls-files | xargs sed -n 1p",
    "git ls-files | xargs rm",
    "git ls-files .env | xargs cat",
    "git ls-files -- ':(glob).en*' | xargs cat",
    "find . -type f | xargs git log",
    "find . | xargs",
    "xargs cat",
    "xargs -a .env ls",
    "xargs -I{} cat {}",
    "xargs --arg-file=.env echo",
    "xargs -0 cat < /proc/self/environ",
    "cat x | xargs cat",
    "ls | xargs cat",
    "rg -l TOKEN | xargs cat",
    "find . -name README.md | xargs touch",
    "find . | sort | xargs cat",
    "find . -inum 5 -exec cat {} +",
    "find . -ok cat {} \\;",
    "find . -exec echo {} \\; -fprint x",
    "xargs ls < .env",
    "echo x | xargs -o vi",
    "find . -exec cat '{}' x +",
    "find . -exec /bin/rm {} +",
    "find . -newer .env -exec cat {} +",
    "git ls-files -X .env | xargs cat",
    "find secrets -type f -exec cat {} +",
    "find . -path './secrets/*' -exec cat {} +",
    "find . -name 'prod*' -exec cat {} +",
    "find . -name id_rsa -o -name x | xargs cat",
    "find . -iname '.ENV' -exec cat {} +",
    "find . -name '?env' -exec cat {} +",
    "find . -name '[.]env' -exec cat {} +",
    "find . -path '*env' -exec cat {} +",
    "find . -wholename '*/.en[v]' -exec cat {} +",
    "find . -maxdepth 1 -name '*nv' -exec cat {} +",
    "find . -newermt 2020-01-01 -exec cat {} +",
    "find . -size -200c -exec cat {} +",
    "find . -links 2 -exec cat {} +",
]


@pytest.mark.parametrize("text", ALLOWED)
def test_what_only_reads_is_allowed(text: str) -> None:
    assert refused(text) is None


@pytest.mark.parametrize("text", REFUSED)
def test_what_may_do_more_is_refused(text: str) -> None:
    assert refused(text) is not None
