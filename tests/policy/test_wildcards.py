"""Wildcards and links: a word with a wildcard is judged by every file that the shell puts in its place."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.policy.plan_mode.secret_paths import meets
from asbuilt.policy.shell.expansion import MOST_MATCHES, Expansion
from asbuilt.policy.shell.judge import verdict
from asbuilt.session.wildcard_expansion import names_in

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

FOLLOWING = (
    "grep -R password .",
    "grep -R password",
    "grep -r --dereference-recursive password .",
    "find -L . -name 'id*'",
    "find . -follow -name 'id*'",
    "rg -L password",
    "rg --follow password .",
    "rg --files -L",
    "fd -L id_",
    "tree -l",
    "du -La .",
    "ls -LR",
    "diff -r . src",
    "find . | xargs grep password",
    "find . -type l -exec grep -H '' {} +",
    "git ls-files | xargs grep password",
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Make a home with secrets and a repository in it that holds no link."""
    home = tmp_path / "home"
    for name in (".aws", "projects/other", "projects/shop/src", "projects/shop/docs"):
        (home / name).mkdir(parents=True)
    for name in (".netrc", ".aws/credentials", "projects/other/notes.md", "projects/shop/README.md"):
        (home / name).write_text("x\n", encoding="utf-8")
    for name in ("src/app.py", "src/util.py", "docs/link.md"):
        (home / "projects" / "shop" / name).write_text("x\n", encoding="utf-8")
    return home


@pytest.fixture
def linked(home: Path) -> Path:
    """Add links out of the repository, as a checkout can carry them."""
    shop = home / "projects" / "shop"
    (shop / "link-out").symlink_to("../../.netrc")
    (shop / "linkdir-out").symlink_to("../..")
    (shop / "link-in").symlink_to("src")
    return home


def asked(text: str, home: Path) -> str | None:
    shop = str(home / "projects" / "shop")
    return verdict(
        text,
        cwd=shop,
        home=str(home),
        root=shop,
        resolve=os.path.realpath,
        exists=os.path.lexists,
        names=names_in,
    )


def test_a_refusal_names_the_match_that_leads_out(linked: Path) -> None:
    shop = linked / "projects" / "shop"
    assert asked("cat link-o*", linked) == (
        f"link-o* stands for link-out too, which is in a home and outside {shop}: planning reads nothing else"
        " of a home. Allowed: the same with the names of the files you need"
    )


@pytest.mark.parametrize(
    "text",
    [
        "cat l*",
        "cat *",
        "head -5 *",
        "cat ./*",
        "cat l?nk-out",
        "cat ./l[i]nk-out",
        "cat [l]ink-out",
        "cat l[[:alpha:]]nk-out",
        "cat l[!]a]nk-out",
        "cat l[a']'i]nk-out",
        "cat L*",
        "cat src/../l*",
        "cat **/link-out",
        "cd src && cat ../l*",
        "awk 1 ./l*",
        "sort -- l*",
        "jq -R . l*",
        "grep -h '' ./link*",
        "grep -r password *",
        "rg password l*",
        "git diff --no-index README.md link-o*",
        "find l*/ -name 'id*'",
        "ls -a l*/",
        "ls l*",
        "ls .*",
        "du -a l*/",
        "du -L l*",
        "tree l*",
        "stat */.netrc",
        "echo */.netrc",
        "diff -r src linkdir*",
        "timeout 5 cat l*",
    ],
)
def test_a_wildcard_that_meets_a_link_out_of_the_repository_is_refused(text: str, linked: Path) -> None:
    assert asked(text, linked) is not None


@pytest.mark.parametrize(
    "text",
    [
        "cat *.md",
        "cat src/*.py",
        "wc -l src/* docs/*",
        "cat link-i*/app.py",
        "grep -n x ./R*",
        "ls -d *",
        "ls -d */",
        "ls -d .*",
        "du -sh -- *",
        "echo *",
        "printf '%s\\n' l*",
        "git log -- '*'",
        "git diff -- '*.md'",
        "cat nothing-here*",
    ],
)
def test_a_wildcard_that_stays_in_the_repository_is_allowed_beside_such_links(
    text: str, linked: Path
) -> None:
    assert asked(text, linked) is None


def test_a_wildcard_is_judged_by_its_text_where_it_stands_for_nothing_or_for_too_much(home: Path) -> None:
    shop = home / "projects" / "shop"
    may = "a* may stand for a file with secrets; name the files you need."
    assert asked("cat a*", home) == may
    (shop / "app.cfg").touch()
    assert asked("cat a*", home) is None
    for number in range(MOST_MATCHES):
        (shop / f"a{number}.txt").touch()
    assert asked("cat a*", home) == may


def test_a_wildcard_is_judged_by_the_secrets_it_stands_for(home: Path) -> None:
    assert asked("cat d*/*", home) is None
    (home / "projects" / "shop" / "docs" / "server.pem").write_text("x\n", encoding="utf-8")
    assert asked("cat d*/*", home) == (
        "d*/* stands for docs/server.pem too, which holds secrets."
        " Allowed: the same with the names of the files you need"
    )


@pytest.mark.parametrize(
    "text",
    [
        "printf '%s\\n' ~/.aws/*",
        "basename -a ~/.aws/*",
        "dirname ~/.a*/c*",
        "printf '%s ' ../../*",
        "printf '%s ' ../*",
        "printf '%s ' linkdir-out/.*",
        "printf '%s ' */*",
        "echo ~/.aws/*",
        "true | echo ../*",
    ],
)
def test_no_program_is_given_the_names_in_a_home(text: str, linked: Path) -> None:
    assert asked(text, linked) is not None


@pytest.mark.parametrize(
    "text",
    [
        "[ -e ~/.aws/credentials ]",
        "[[ -d ~/.aws ]]",
        "test -f ../other/notes.md",
        "test -f link-out && echo yes",
        "test README.md -nt ~/.netrc",
        "test ~/.netrc -ef README.md",
        "[ -f README.md -a -f ~/.netrc ]",
        "pathchk ~/.aws",
    ],
)
def test_a_test_does_not_tell_what_is_in_a_home(text: str, linked: Path) -> None:
    assert asked(text, linked) is not None


@pytest.mark.parametrize(
    "text",
    ["[ -f README.md ]", "test -d src && ls src", "[ -x /bin/ls ]", "[ ~/.netrc = x ]", "[ -n ~/.netrc ]"],
)
def test_a_test_of_a_file_of_the_repository_or_of_a_text_is_allowed(text: str, linked: Path) -> None:
    assert asked(text, linked) is None


@pytest.mark.parametrize("text", FOLLOWING)
def test_links_are_followed_where_none_leads_out(text: str, home: Path) -> None:
    (home / "projects" / "shop" / "link-in").symlink_to("src")
    assert asked(text, home) is None


@pytest.mark.parametrize("text", FOLLOWING)
def test_links_are_not_followed_in_a_folder_that_holds_one_into_a_home(text: str, linked: Path) -> None:
    assert asked(text, linked) is not None


@pytest.mark.parametrize(
    "text",
    [
        "grep -r password .",
        "find . -name 'id*'",
        "rg password",
        "fd id_",
        "tree",
        "du -a .",
        "ls -R",
        "diff -r --no-dereference . src",
        "find . -type f | xargs grep password",
        "find . -type f -exec grep -H '' {} +",
        "find . | xargs echo",
        "grep -R password src",
        "find -L src -type f",
    ],
)
def test_the_same_without_following_is_allowed_there_and_so_is_another_folder(
    text: str, linked: Path
) -> None:
    assert asked(text, linked) is None


def test_a_refusal_to_follow_links_names_the_link_and_the_form_that_is_allowed(linked: Path) -> None:
    shop = linked / "projects" / "shop"
    assert asked("grep -R password .", linked) == (
        f"link-out in . is a link out of {shop}, to what planning does not read, and this follows links."
        " Allowed: the same with -r instead of -R"
    )


def test_a_link_is_met_however_many_files_are_beside_it(linked: Path) -> None:
    shop = linked / "projects" / "shop"
    for number in range(MOST_MATCHES + 10):
        (shop / f"b{number}.txt").touch()
    assert asked("cat b*", linked) is None
    assert asked("cat *", linked) is not None
    assert asked("grep -R x .", linked) is not None


def test_more_wildcards_than_can_be_followed_are_refused(home: Path) -> None:
    few, many = (" ".join(f"./{number}*" for number in range(most)) for most in (40, 41))
    assert asked(f"cat {few}", home) is None
    assert asked(f"cat {many}", home) == "It has more wildcards than can be followed; split it."


def test_a_wildcard_is_expanded_no_further_than_its_bounds() -> None:
    listed = []

    def names(folder: str) -> Sequence[str]:
        listed.append(folder)
        return [f"n{number}" for number in range(100)]

    found = Expansion("**/**/n*", "/w", names=names, exists=None)
    assert len(found.matches) == MOST_MATCHES
    assert len(listed) <= 41
    assert listed == found.listed


@given(st.text("ab.*?", min_size=1, max_size=8), st.text("ab.", min_size=1, max_size=8))
def test_a_pattern_stands_for_what_fnmatch_says_but_for_a_dot_at_the_start(pattern: str, name: str) -> None:
    hidden = name.startswith(".") and not pattern.startswith(".")
    assert meets(pattern, name) == (fnmatchcase(name, pattern) and not hidden)
