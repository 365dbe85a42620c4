"""`plan new` writes one file that reads back as it was meant, and never over another."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from asbuilt.plan.reader import read

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_a_title_makes_a_file_to_fill_in(asbuilt: Callable[..., str], shop: Path) -> None:
    assert asbuilt("plan", "new", "rate", "limiting") == snapshot("""\
exit 0
--- stdout
Wrote plans/rate-limiting.md: 2 phases to fill in.
--- stderr
Next: asbuilt plan check rate-limiting
      # after you edit plans/rate-limiting.md
""")
    assert asbuilt("plan", "new", "Rate limiting", "--phases", "1") == snapshot("""\
exit 0
--- stdout
Wrote plans/rate-limiting-2.md: 1 phase to fill in.
--- stderr
Next: asbuilt plan check rate-limiting-2
      # after you edit plans/rate-limiting-2.md
""")
    assert sorted(path.relative_to(shop).as_posix() for path in shop.rglob("*.md")) == snapshot(
        ["plans/rate-limiting-2.md", "plans/rate-limiting.md"]
    )
    assert asbuilt("plan", "show", "plans/rate-limiting.md", "-q") == snapshot("""\
exit 0
--- stdout
rate limiting   plans/rate-limiting.md   active
  ○ 1  Name of phase 1  pending  next
  ○ 2  Name of phase 2  pending
0 of 2 phases marked done (0%), 0 of 2 items. Next 1. 70 lines.
✗ line 38: phase 1 has no check that can be run (1 more like it)
2 errors.
""")
    assert asbuilt("plan", "check", "plans/rate-limiting.md") == snapshot("""\
exit 1
--- stdout
plans/rate-limiting.md:38: error: phase 1 has no check that can be run
  Add a command under Verification; "looks right" proves nothing. [no-check]
plans/rate-limiting.md:56: error: phase 2 has no check that can be run
  Add a command under Verification; "looks right" proves nothing. [no-check]
2 errors in 2 phases.
--- stderr
Next: asbuilt plan check rate-limiting
      # correct plans/rate-limiting.md:38 first
""")


@pytest.mark.parametrize(
    "title",
    [
        "- x: [",
        'it\'s "quoted": yes',
        "a: b # c",
        "{curly} %s {0}",
        "*bold* _under_ `code` [link](x) <b>",
        "# heading",
        "--- ",
        "null",
        "true",
        "2026-01-01",
        "~",
        "🚀✨",
        "日本語の計画",
        "back\\slash \\n",
        "| pipe | table |",
        "ends with colon:",
        "'",
        "x" * 500,
        "!tag &anchor *alias",
        "1. first",
        "> quote",
        "Phase 1: not a phase",
        "## Phase 1 — trap ✅ Done",
        "Status: done",
    ],
)
def test_any_title_is_read_back_exactly_and_only_checks_are_missing(
    asbuilt: Callable[..., str], shop: Path, title: str
) -> None:
    assert asbuilt("plan", "new", "--name", "odd", "--", title).startswith("exit 0\n")
    plan = read((shop / "plans" / "odd.md").read_bytes())
    assert plan.title == title.strip()
    assert [(phase.id, phase.status) for phase in plan.phases] == [("1", "pending"), ("2", "pending")]
    assert [(problem.severity, problem.rule) for problem in plan.problems] == [("error", "no-check")] * 2


def test_white_space_in_a_title_is_made_even(asbuilt: Callable[..., str], shop: Path) -> None:
    asbuilt("plan", "new", "  a\t title\nin  two lines ", "--name", "odd")
    assert read((shop / "plans" / "odd.md").read_bytes()).title == "a title in two lines"


@pytest.mark.parametrize("title", ["\x1b[31mred", "bell\x07", "\u202etxet", "caf\udce9"])
def test_a_title_with_a_character_that_nobody_sees_is_refused(
    asbuilt: Callable[..., str], shop: Path, title: str
) -> None:
    told = asbuilt("plan", "new", title)
    assert told.split("\n")[0] == "exit 2"
    assert (
        told.partition(" has ")[2]
        == f"""\
an invisible character
  Why:  It could control the terminal, or change how the plan parses.
  Next: asbuilt plan new {shlex.quote("".join(filter(str.isprintable, title)))}
"""
    )
    assert [path.name for path in shop.iterdir()] == [".git"]


def test_without_a_title_two_readable_words_name_it(asbuilt: Callable[..., str], shop: Path) -> None:
    told = asbuilt("plan", "new")
    (file,) = (shop / "plans").iterdir()
    assert told == (
        f"exit 0\n--- stdout\nWrote plans/{file.name}: 2 phases to fill in.\n"
        f"--- stderr\nNext: asbuilt plan check {file.stem}\n      # after you edit plans/{file.name}\n"
    )


def test_a_chosen_name_that_is_taken_is_refused(asbuilt: Callable[..., str], shop: Path) -> None:
    (shop / "plans").mkdir()
    (shop / "plans" / "login.md").write_text("theirs")
    assert asbuilt("plan", "new", "Login", "--name", "login") == snapshot("""\
exit 1
--- stderr
error: plans/login.md exists already
  Why:  Nothing is ever overwritten.
  Next:
        ${EDITOR:-vi} [TMP]/shop-api/plans/login.md
        # or choose another name
""")
    assert asbuilt("plan", "new", "Login", "--name", "../login") == snapshot("""\
exit 2
--- stderr
error: "../login" cannot name a plan
  Why:  A plan's name is typed in commands: letters a-z, digits and hyphens, no
        hyphen in front, and not more than 100.
  Next: asbuilt plan new Login --name login
""")
    assert (shop / "plans" / "login.md").read_text() == "theirs"


def test_outside_of_a_repository_it_goes_into_the_users_folder_only_when_asked(
    asbuilt: Callable[..., str], tmp_path: Path
) -> None:
    assert asbuilt("plan", "new", "Login", cwd=tmp_path) == snapshot("""\
exit 3
--- stderr
error: no repository here
  Why:  New plans are written into a repository.
  Next: cd your-repo
        # or name one with --repo DIR; --user takes your own folder
""")
    assert asbuilt("plan", "new", "Login", "--user", cwd=tmp_path) == snapshot("""\
exit 0
--- stdout
Wrote ~/.claude/plans/login.md: 2 phases to fill in.
--- stderr
Next: asbuilt plan check login
      # after you edit ~/.claude/plans/login.md
""")
    assert (tmp_path / "home" / ".claude" / "plans" / "login.md").is_file()


def test_it_goes_where_the_settings_say(asbuilt: Callable[..., str], shop: Path) -> None:
    (shop / "asbuilt.toml").write_text('[plans]\nfolder = "docs/agreed"\n')
    assert asbuilt("plan", "new", "Login") == snapshot("""\
exit 0
--- stdout
Wrote docs/agreed/login.md: 2 phases to fill in.
--- stderr
Next: asbuilt plan check login
      # after you edit docs/agreed/login.md
""")


@pytest.mark.parametrize("phases", ["0", "27", "many"])
def test_the_number_of_phases_is_judged(asbuilt: Callable[..., str], shop: Path, phases: str) -> None:
    assert asbuilt("plan", "new", "x", "--phases", phases).split("\n")[0] == "exit 2"
    assert [path.name for path in shop.iterdir()] == [".git"]


def test_a_plans_folder_that_is_a_file_is_told(asbuilt: Callable[..., str], shop: Path) -> None:
    (shop / "plans").write_text("a file")
    assert asbuilt("plan", "new", "x") == snapshot("""\
exit 1
--- stderr
error: plans/x.md cannot be written: its folder is a file
  Why:  Nothing was changed; the file is as it was.
  Next:
        ls -ld [TMP]/shop-api/plans
        # then try again
""")


def test_the_status_of_a_plan_that_is_not_filled_in_leads_to_its_errors(asbuilt: Callable[..., str]) -> None:
    asbuilt("plan", "new", "Greeting")
    assert asbuilt("status", "greeting").endswith("Next: asbuilt plan check greeting\n")
