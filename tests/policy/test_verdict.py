"""The verdict on a command line while planning is held: on real paths, in whole sentences, for any text."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.policy.shell.judge import verdict
from asbuilt.session.wildcard_expansion import names_in
from tests.policy.programs.asking import refused

if TYPE_CHECKING:
    from pathlib import Path

ALLOWED = ("ls -la", "git log --oneline | head -20", "rg -n 'a b' src 2>/dev/null", "cd src && cat app.py")
DENIED = ("rm x", "cat .env", "ls > out", "git push", "echo $(ls)", "sed -i p x", "sort -o x y", "'")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Make a repository that holds a bare one and links to where secrets are."""
    shop = tmp_path / "shop"
    for name in ("shop/src", "shop/.git", "shop/lib/store", "home/.ssh"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("shop/.git/HEAD", "shop/lib/store/HEAD", "shop/.env", "home/.ssh/id_rsa", "shop/README.md"):
        (tmp_path / name).write_text("x\n", encoding="utf-8")
    (shop / "notes.txt").symlink_to(shop / ".env")
    (shop / "keys").symlink_to(tmp_path / "home/.ssh")
    (shop / "away").symlink_to(tmp_path)
    return shop


def asked(text: str, shop: Path) -> str | None:
    return verdict(
        text,
        cwd=str(shop),
        home=str(shop.parent / "home"),
        root=str(shop),
        resolve=os.path.realpath,
        exists=os.path.lexists,
        names=names_in,
    )


@pytest.mark.parametrize(
    "text",
    [
        "cat notes.txt",
        "cat src/../notes.txt",
        "wc -l < notes.txt",
        "cat keys/id_rsa",
        "grep -r . keys",
        "cat ~/.ssh/id_rsa",
        "cd away",
        "cd away/shop/../home",
        "cd src; cat ../notes.txt",
        "git -C away status",
    ],
)
def test_a_link_is_judged_by_where_it_leads(text: str, shop: Path) -> None:
    assert asked(text, shop) is not None


def in_a_home(text: str, root: str = "/home/ada/src/shop", home: str = "/home/ada") -> str | None:
    return verdict(text, cwd=root, home=home, root=root, opened=("/home/ada/.local/state/asbuilt/plans",))


@pytest.mark.parametrize(
    "text",
    [
        "cat README.md",
        "cat /home/ada/src/shop/src/*.py",
        "grep -rn main .",
        "cat ~/src/shop/README.md",
        "ls ~/.rustup/toolchains",
        "grep -rn 'fn new' ~/.cargo/registry/src",
        "cat ~/.local/state/asbuilt/plans/mine.md",
        "cat /usr/include/stdio.h",
    ],
)
def test_a_repository_in_a_home_is_read_and_so_are_toolchains_and_plans(text: str) -> None:
    assert in_a_home(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "cat ../other/README.md",
        "ls ..",
        "ls ~",
        "cat /home/ada/src/Shop/README.md",
        "cat /home/ada/src/shop2/README.md",
        "cat ~/src/sho*/README.md",
        "grep -r x ~/src",
        "cat /home/bob/x",
        "cat /root/x",
        "cat /Users/bob/x",
        "cat /var/home/bob/x",
        "cat ~/.cargo/credentials.toml",
        "cat ~/.cargo/registry/.env",
        "cat ~/.local/state/asbuilt/journal.db",
    ],
)
def test_nothing_else_of_any_home_is_read(text: str) -> None:
    assert in_a_home(text) is not None


def test_a_repository_that_is_the_home_opens_nothing_hidden_in_it() -> None:
    said = {
        text: in_a_home(text, "/home/ada") is None for text in ("cat notes.md", "cat .config/x", "ls src")
    }
    assert said == {"cat notes.md": True, "cat .config/x": False, "ls src": True}


def test_a_home_that_is_a_link_is_closed_by_both_its_names(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "home").symlink_to(tmp_path / "data")
    asked = [
        verdict(
            f"cat {tmp_path}/{name}/x", cwd="/srv/shop", home=f"{tmp_path}/home", resolve=os.path.realpath
        )
        for name in ("home", "data")
    ]
    assert all(asked)


@pytest.mark.parametrize(
    "text",
    [
        "cd lib/store && git status",
        "git -C lib/store log",
        "cd lib; cd store; git diff",
        "cd .git && git log",
    ],
)
def test_git_obeys_no_repository_that_the_repository_carries(text: str, shop: Path) -> None:
    assert asked(text, shop) == (
        f"{shop}/{'.git' if '.git ' in text else 'lib/store'} may be a repository within the repository,"
        f" whose settings git would obey. Allowed: git -C {shop} …"
    )


def test_a_name_is_enough_for_one_that_is_not_there_yet(shop: Path) -> None:
    assert asked("cd gone.git && git status", shop) is not None


@pytest.mark.parametrize(
    "text",
    [
        "cd src && git status",
        "cd lib && ls store",
        "git -C src log",
        "cd lib/store && ls",
        "cd src && cd .. && git log",
        "git -C lib/store/.. log; git status",
    ],
)
def test_elsewhere_in_the_repository_git_reads(text: str, shop: Path) -> None:
    assert asked(text, shop) is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "sed -i 's/limit=10/limit=20/' src/app.py",
            "plan mode is read-only and sed -i rewrites src/app.py. Allowed: sed -n '1,80p' src/app.py",
        ),
        ("cat .env", ".env holds secrets, and no command of an agent reads those."),
        (
            "ls > out.txt",
            (
                "plan mode is read-only and this command cannot be read for certain: > writes out.txt."
                " Allowed: >/dev/null, or no redirection."
            ),
        ),
        (
            "git push",
            "git push reaches another machine, and planning stays on this one. Allowed: git log origin/main",
        ),
        (
            "git branch topic",
            (
                "plan mode is read-only and git branch topic makes a branch."
                " Allowed: git branch --list 'PATTERN'"
            ),
        ),
        (
            "sort -o out x",
            "plan mode is read-only and sort -o is not on the list of options that only read.",
        ),
        (
            "curl example.com",
            "plan mode is read-only and curl reaches the network or another machine.",
        ),
        (
            "asbuilt mode exit",
            (
                "Only users run asbuilt mode exit while plan mode is on."
                " Allowed: asbuilt status, asbuilt log SLUG, asbuilt plan show SLUG"
            ),
        ),
        ("cd /", "/ is outside /work/shop, and a planning command stays in its repository. Allowed: ls /"),
        (
            "tail -f app.log",
            "plan mode is read-only and tail -f never ends. Allowed: tail -n 50 FILE",
        ),
    ],
)
def test_a_refusal_says_what_why_and_what_is_allowed(text: str, reason: str) -> None:
    assert refused(text) == reason


@pytest.mark.parametrize(("cwd", "home"), [("", "/home/ada"), ("shop", "/home/ada"), ("/work/shop", "")])
def test_where_nobody_knows_the_place_its_paths_are_refused(cwd: str, home: str) -> None:
    assert verdict("rg token ~", cwd=cwd, home=home) is not None


@given(st.text())
def test_any_text_gets_an_answer(text: str) -> None:
    assert refused(text) is None or refused(text) != ""


# fmt: off
PIECES = (
    "ls", "cat", "git", "log", "-o", "*", "?", "'", '"', "\\", "$", "(", ";", "&&", "|", ">", "<", "~",
    ".env", "/", "-", "--", "\n", "[[", "]]", "{", "awk", "sed", "find", "xxd", "cd", "printf", "%", "ps",
    "tar", "jq", "{a,b}", "}", "$?",
)
# fmt: on


@given(st.lists(st.sampled_from(PIECES)))
def test_any_line_of_shell_gets_an_answer(pieces: list[str]) -> None:
    text = " ".join(pieces)
    assert refused(text) is None or refused(text) != ""


@pytest.mark.parametrize(
    "text",
    [
        "cat " + "*" * 3_000,
        "cat " + "*a" * 1_500,
        "rg x -g '" + "{a,b}" * 500 + "'",
        "git log -- '" + "{" * 1_500 + "'",
        "ls " + "{a,b}" * 20,
        "awk '" + "(" * 3_000 + "'",
        "sed '" + "{" * 3_000 + "'",
        "cd a;" * 39 + "cat " + "x " * 1_000,
    ],
)
def test_a_line_that_is_made_to_keep_it_busy_is_refused(text: str) -> None:
    assert refused(text) is not None


@pytest.mark.parametrize("text", ALLOWED)
def test_what_the_properties_below_join_is_allowed(text: str) -> None:
    assert refused(text) is None


@given(
    st.lists(st.sampled_from(ALLOWED), max_size=3),
    st.sampled_from(DENIED),
    st.lists(st.sampled_from(ALLOWED), max_size=3),
    st.sampled_from([" && ", " || ", "; ", " | ", "\n", ";", "|"]),
)
def test_nothing_allowed_carries_what_is_refused(
    before: list[str], denied: str, after: list[str], sign: str
) -> None:
    assert refused(sign.join([*before, denied, *after])) is not None


@pytest.mark.parametrize(
    "hidden", ["\0", "\x1b", "\r", "\x7f", "\x85", "\u200b", "\u202e", "\ufeff", "\u3000"]
)
@pytest.mark.parametrize("text", ALLOWED)
def test_a_character_that_nobody_sees_refuses_the_line(text: str, hidden: str) -> None:
    for at in range(len(text) + 1):
        assert refused(text[:at] + hidden + text[at:]) is not None
