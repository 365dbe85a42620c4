"""Reading is reading: nothing in a repository changes, not even a time; and the tab key reads too."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from tests.cli.plans import CHECKLIST, HEADINGS, NARRATIVE, PROGRESS, RATE_LIMIT, SECTIONS, put, tree

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "real"
    subprocess.run(  # git is found where the developer has it
        ["git", "init", "-q", str(root)],  # noqa: S607
        check=True,
        env={"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"},
    )
    put(root, rate_limit=RATE_LIMIT, importer=SECTIONS, PROGRESS=PROGRESS, chores=CHECKLIST, story=NARRATIVE)
    return root


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("plan", "list"),
        ("plan", "list", "--json"),
        ("plan", "show", "rate-limit"),
        ("plan", "show", "story", "--json"),
        ("plan", "show", "rate-limit", "--phase", "2a", "--verbatim"),
        ("plan", "show", "nothing-like-it"),
        ("plan", "check"),
        ("plan", "check", "importer", "-v"),
        ("plan", "export", "importer"),
        ("plan", "mark", "story", "1", "done"),
        ("plan", "open", "rate-limit"),
        ("plan", "-h"),
    ],
    ids=" ".join,
)
def test_nothing_is_written_into_a_repository(
    asbuilt: Callable[..., str], repository: Path, arguments: tuple[str, ...]
) -> None:
    before = tree(repository.parent)
    asbuilt(*arguments, cwd=repository)
    assert tree(repository.parent) == before


@pytest.mark.parametrize("more", [(), ("-m", "we use Redis 6"), ("--auto",)], ids=" ".join)
def test_a_run_of_a_plan_that_does_not_exist_writes_nothing(
    asbuilt: Callable[..., str], repository: Path, more: tuple[str, ...]
) -> None:
    before = tree(repository.parent)
    agent = {"ASBUILT_AGENTS_IMPLEMENT": "scripted"}
    assert asbuilt("run", "nosuch", *more, cwd=repository, **agent).startswith("exit 3")
    assert tree(repository.parent) == before


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (
            "asbuilt plan ",
            snapshot("""\
exit 0
--- stdout
plain,list
plain,show
plain,check
plain,new
plain,mark
plain,open
plain,refine
plain,import
plain,export
"""),
        ),
        (
            "asbuilt plan show ",
            snapshot("""\
exit 0
--- stdout
plain,rabbit
plain,chores
plain,rate-limit
"""),
        ),
        (
            "asbuilt plan show ra",
            snapshot("""\
exit 0
--- stdout
plain,rabbit
plain,rate-limit
"""),
        ),
        (
            "asbuilt plan show ./pla",
            snapshot("""\
exit 0
--- stdout
file,./pla
"""),
        ),
        (
            "asbuilt plan check chores r",
            snapshot("""\
exit 0
--- stdout
plain,rabbit
plain,rate-limit
"""),
        ),
        (
            "asbuilt plan show rate-limit --phase ",
            snapshot("""\
exit 0
--- stdout
plain,1
plain,2a
plain,2b
plain,3
"""),
        ),
        (
            "asbuilt plan mark rate-limit 2",
            snapshot("""\
exit 0
--- stdout
plain,2a
plain,2b
"""),
        ),
        (
            "asbuilt plan mark rate-limit 2a ",
            snapshot("""\
exit 0
--- stdout
plain,pending
plain,in-progress
plain,in_progress
plain,done
plain,blocked
"""),
        ),
        (
            "asbuilt plan mark chores t",
            snapshot("""\
exit 0
--- stdout

"""),
        ),
        (
            "asbuilt plan mark no-such-plan ",
            snapshot("""\
exit 0
--- stdout

"""),
        ),
    ],
)
def test_the_tab_key_offers_plans_newest_first_and_their_phases(
    asbuilt: Callable[..., str], shop: Path, words: str, offered: str
) -> None:
    put(shop, chores=HEADINGS, rate_limit=RATE_LIMIT, rabbit=NARRATIVE)
    (shop / "plans" / "My Plan.md").write_text("# x\n")
    for age, name in enumerate(("rabbit", "chores", "rate-limit")):
        os.utime(shop / "plans" / f"{name}.md", (1_700_000_000 - age, 1_700_000_000 - age))
    position = str(len(words.split(" ")) - 1)
    assert asbuilt(_ASBUILT_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=position) == offered


def test_the_tab_key_stays_silent_when_something_is_wrong(asbuilt: Callable[..., str], shop: Path) -> None:
    put(shop, rate_limit=RATE_LIMIT)
    (shop / "asbuilt.toml").write_text("not toml")
    told = asbuilt(_ASBUILT_COMPLETE="bash_complete", COMP_WORDS="asbuilt plan show ", COMP_CWORD="3")
    assert told == "exit 0\n--- stdout\n\n"
    (shop / "asbuilt.toml").write_text('[plans]\nfolder = "out"\n')
    (shop / "out").symlink_to("/")
    told = asbuilt(_ASBUILT_COMPLETE="bash_complete", COMP_WORDS="asbuilt plan show ", COMP_CWORD="3")
    assert told == "exit 0\n--- stdout\nplain,rate-limit\n"
