"""What a person typed leads to one plan, to a list of candidates, or to what may have been meant."""

from __future__ import annotations

import os
from textwrap import fill
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from asbuilt.errors import AsbuiltError, NotFound, PlanUnreadable, UsageWrong
from asbuilt.library.name_resolution import find
from asbuilt.library.read_plan import open_plan
from asbuilt.library.search_path import Library, open_library

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def library(shop: Path, home: Path) -> Library:
    for name in (
        "plans/rate-limit.md",
        "plans/rate-limit-v2.md",
        "plans/FEATURE_PLAN.md",
        "plans/login.md",
        "docs/plans/login.md",
        "specs/003-search/tasks.md",
        "src/note.md",
    ):
        (shop / name).parent.mkdir(parents=True, exist_ok=True)
        (shop / name).write_text(f"# {name}\n")
    return open_library(shop, home=home)


def _told(error: AsbuiltError) -> str:
    said = [f"{type(error).__name__} {error.exit_code}", error.what, error.why, error.next_step]
    return "\n".join(fill(line, 90, subsequent_indent="  ") for line in said)


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("plans/rate-limit.md", "plans/rate-limit.md"),
        ("./plans/rate-limit.md", "plans/rate-limit.md"),
        ("plans/../plans/rate-limit.md", "plans/rate-limit.md"),
        ("plans/rate-limit", "plans/rate-limit.md"),
        ("rate-limit", "plans/rate-limit.md"),
        ("rate-limit.md", "plans/rate-limit.md"),
        ("RATE_LIMIT", "plans/rate-limit.md"),
        ("feature_plan.md", "plans/FEATURE_PLAN.md"),
        ("v2", "plans/rate-limit-v2.md"),
        ("search", "specs/003-search/tasks.md"),
        ("003-search", "specs/003-search/tasks.md"),
        ("docs/plans/login.md", "docs/plans/login.md"),
        ("docs/plans/login", "docs/plans/login.md"),
        ("src/note.md", "src/note.md"),
    ],
)
def test_exact_then_with_md_then_any_unique_part(library: Library, typed: str, shown: str) -> None:
    assert find(library, typed).shown == shown


def test_a_path_is_taken_from_where_the_person_stands_and_then_from_the_root(
    library: Library, shop: Path, home: Path
) -> None:
    below = open_library(shop / "src", home=home)
    assert [find(below, typed).shown for typed in ("note.md", "../plans/login.md", "plans/login.md")] == [
        "src/note.md",
        "plans/login.md",
        "plans/login.md",
    ]
    assert find(library, str(shop / "plans" / "login.md")).shown == "plans/login.md"


def test_the_users_own_folder_is_named_from_home(library: Library, home: Path) -> None:
    (home / ".claude" / "plans").mkdir(parents=True)
    (home / ".claude" / "plans" / "brave-fox.md").write_text("# x\n")
    assert {find(library, typed).shown for typed in ("brave", "~/.claude/plans/brave-fox.md")} == {
        "~/.claude/plans/brave-fox.md"
    }


def test_a_folder_called_like_a_plan_is_not_what_was_meant(library: Library, shop: Path) -> None:
    (shop / "rate-limit").mkdir()
    assert find(library, "rate-limit").shown == "plans/rate-limit.md"


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        (
            "login",
            snapshot("""\
UsageWrong 2
"login" names 2 plans: plans/login.md, docs/plans/login.md
Several plans match.
`asbuilt plan list` shows their names and paths.\
"""),
        ),
        (
            "rate",
            snapshot("""\
UsageWrong 2
"rate" is part of 2 plans: plans/rate-limit-v2.md, plans/rate-limit.md
Several plans match.
`asbuilt plan list` shows their names and paths.\
"""),
        ),
        (
            "rate-limt",
            snapshot("""\
NameMisspelt 3
no plan "rate-limt". Did you mean rate-limit?
Searched plans/, docs/plans/, specs/, openspec/changes/ and ~/.claude/plans/.
`asbuilt plan show rate-limit`\
"""),
        ),
        (
            "plans/rate-limt.md",
            snapshot("""\
NameMisspelt 3
no plan "plans/rate-limt.md". Did you mean rate-limit?
Searched plans/, docs/plans/, specs/, openspec/changes/ and ~/.claude/plans/.
`asbuilt plan show rate-limit`\
"""),
        ),
        (
            "zzz",
            snapshot("""\
NotFound 3
no plan "zzz"
Plans here: feature-plan, login, rate-limit-v2, rate-limit, 003-search.
`asbuilt plan list`\
"""),
        ),
        (
            "",
            snapshot("""\
NotFound 3
no plan ""
Plans here: feature-plan, login, rate-limit-v2, rate-limit, 003-search.
`asbuilt plan list`\
"""),
        ),
        (
            ".md",
            snapshot("""\
NotFound 3
no plan ".md"
Plans here: feature-plan, login, rate-limit-v2, rate-limit, 003-search.
`asbuilt plan list`\
"""),
        ),
        (
            "~nobody/x.md",
            snapshot("""\
NotFound 3
no plan "~nobody/x.md"
Plans here: feature-plan, login, rate-limit-v2, rate-limit, 003-search.
`asbuilt plan list`\
"""),
        ),
    ],
)
def test_what_names_none_or_several_is_told_and_none_is_picked(
    library: Library, typed: str, told: str
) -> None:
    with pytest.raises((NotFound, UsageWrong)) as caught:
        find(library, typed)
    assert _told(caught.value) == told


def test_a_name_longer_than_any_file_s_is_just_not_found(library: Library) -> None:
    with pytest.raises(NotFound):
        find(library, "x/" * 5_000 + "y.md")


def test_where_there_are_no_plans_the_way_to_the_first_is_shown(shop: Path, home: Path) -> None:
    with pytest.raises(NotFound) as caught:
        find(open_library(shop, home=home, folder="agreed"), "login")
    assert _told(caught.value) == snapshot("""\
NotFound 3
no plan "login"
No plan exists yet. Searched agreed/, plans/, docs/plans/, specs/, openspec/changes/ and
  ~/.claude/plans/.
`asbuilt plan new "what you want"`\
""")


def test_outside_of_a_repository_it_is_said_that_there_is_none(tmp_path: Path, home: Path) -> None:
    with pytest.raises(NotFound) as caught:
        find(open_library(tmp_path, home=home), "login")
    assert _told(caught.value) == snapshot("""\
NotFound 3
no plan "login"
No plan exists yet. Searched ~/.claude/plans/; no repository is around this folder.
`asbuilt plan new "what you want" --user`\
""")


def test_of_many_plans_the_first_are_named(shop: Path, home: Path) -> None:
    (shop / "plans").mkdir()
    for number in range(10, 30):
        (shop / "plans" / f"p{number}.md").write_text("# x\n")
    with pytest.raises(NotFound) as caught:
        find(open_library(shop, home=home), "zzz")
    assert _told(caught.value) == snapshot(
        """\
NotFound 3
no plan "zzz"
Plans here: p10, p11, p12, p13, p14, p15, p16, p17 and 12 more.
`asbuilt plan list`\
"""
    )


@pytest.mark.parametrize("name", ["My Plan.md", "größe.md", os.fsdecode(b"caf\xe9.md"), "-x.md"])
def test_a_file_whose_name_cannot_be_typed_in_commands_is_a_usage_error(
    library: Library, shop: Path, name: str
) -> None:
    (shop / "plans" / name).write_text("# x\n")
    for typed in (f"plans/{name}", name, name.removesuffix(".md")):
        with pytest.raises(UsageWrong) as caught:
            find(library, typed)
        assert caught.value.what == f'"{name}" cannot name a plan'


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (
            "folder",
            snapshot("""\
PlanUnreadable 1
plans/folder.md is not a file
A plan is a Markdown file; a folder, pipe or device holds none.
`asbuilt plan list` shows the plans that are here.\
"""),
        ),
        (
            "pipe",
            snapshot("""\
PlanUnreadable 1
plans/pipe.md is not a file
A plan is a Markdown file; a folder, pipe or device holds none.
`asbuilt plan list` shows the plans that are here.\
"""),
        ),
        (
            "device",
            snapshot("""\
PlanUnreadable 1
/dev/zero is not a file
A plan is a Markdown file; a folder, pipe or device holds none.
`asbuilt plan list` shows the plans that are here.\
"""),
        ),
        (
            "too-large",
            snapshot("""\
PlanUnreadable 1
plans/too-large.md has more than 2,000,000 bytes
A plan of that size can be neither followed nor approved.
`asbuilt plan new "the second part"`, to split it into several plans\
"""),
        ),
    ],
)
def test_what_holds_no_plan_is_told_and_never_waited_for(
    library: Library, shop: Path, make: str, told: str
) -> None:
    file = shop / "plans" / f"{make}.md"
    match make:
        case "folder":
            file.mkdir()
        case "pipe":
            os.mkfifo(file)
        case "device":
            file.symlink_to("/dev/zero")
        case _:
            file.write_bytes(b"# x\n" + b"y" * 1_999_997)
    at = find(library, f"plans/{make}.md")
    with pytest.raises(PlanUnreadable) as caught:
        open_plan(library, at)
    assert _told(caught.value) == told


def test_a_plan_of_exactly_two_million_bytes_is_read(library: Library, shop: Path) -> None:
    (shop / "plans" / "large.md").write_bytes(b"# x\n" + b"y" * 1_999_996)
    assert open_plan(library, find(library, "large")).plan.title == "x"


def test_a_plan_that_vanishes_is_not_found(library: Library, shop: Path) -> None:
    at = find(library, "v2")
    (shop / "plans" / "rate-limit-v2.md").unlink()
    with pytest.raises(NotFound) as caught:
        open_plan(library, at)
    assert _told(caught.value) == snapshot("""\
NotFound 3
there is no file plans/rate-limit-v2.md
asbuilt uses a path exactly as written.
`asbuilt plan list` shows the plans that are here.\
""")


_NAMES_PROGRESS = "# Importer\nProgress is kept in {name}.\n\n## Phase 1: CSV\n\nReads.\n"
_PROGRESS = "# Progress\n\n| Phase | Status |\n|---|---|\n| 1 | Done |\n"


@pytest.mark.parametrize("place", ["plans/PROGRESS.md", "PROGRESS.md"])
def test_a_progress_document_is_read_beside_the_plan_or_at_the_root(
    library: Library, shop: Path, place: str
) -> None:
    (shop / "plans" / "importer.md").write_text(_NAMES_PROGRESS.format(name="PROGRESS.md"))
    (shop / place).write_text(_PROGRESS)
    opened = open_plan(library, find(library, "importer"))
    assert opened.progress_document is not None
    assert (opened.progress_document[0].shown, opened.plan.phases[0].status) == (place, "done")


@pytest.mark.parametrize(
    "named",
    [
        "`Fortschritt für alle.md`",
        "[the table](<Fortschritt für alle.md>)",
        "[Fortschritt für alle.md](Fortschritt%20f%C3%BCr%20alle.md 'a title')",
        "<Fortschritt für alle.md>",
    ],
)
def test_a_progress_document_with_spaces_in_its_name_is_read(
    library: Library, shop: Path, named: str
) -> None:
    (shop / "plans" / "importer.md").write_text(_NAMES_PROGRESS.format(name=named))
    (shop / "plans" / "Fortschritt für alle.md").write_text(_PROGRESS)
    opened = open_plan(library, find(library, "importer"))
    assert opened.progress_document is not None
    assert opened.plan.phases[0].status == "done"


@pytest.mark.parametrize("named", ["`cat PROGRESS.md`", "[it](PROGRESS.md#now)", "[Progress](PROGRESS.md)"])
def test_a_progress_document_is_found_in_a_command_and_behind_a_link(
    library: Library, shop: Path, named: str
) -> None:
    (shop / "plans" / "importer.md").write_text(_NAMES_PROGRESS.format(name=named))
    (shop / "plans" / "PROGRESS.md").write_text(_PROGRESS)
    assert open_plan(library, find(library, "importer")).plan.phases[0].status == "done"


@pytest.mark.parametrize(
    "name", ["../../outside-progress.md", "link-progress.md", "importer.md", f"{'x' * 300}.md"]
)
def test_a_progress_document_never_leads_out_of_the_repository_or_in_a_circle(
    library: Library, shop: Path, tmp_path: Path, name: str
) -> None:
    (tmp_path / "outside-progress.md").write_text(_PROGRESS)
    (shop / "plans" / "importer.md").write_text(_NAMES_PROGRESS.format(name=name))
    (shop / "plans" / "link-progress.md").symlink_to(tmp_path / "outside-progress.md")
    opened = open_plan(library, find(library, "importer"))
    assert (opened.progress_document, opened.plan.phases[0].status) == (None, "pending")


def test_a_progress_document_that_cannot_be_read_is_named(library: Library, shop: Path) -> None:
    (shop / "plans" / "importer.md").write_text(_NAMES_PROGRESS.format(name="PROGRESS.md"))
    (shop / "plans" / "PROGRESS.md").write_bytes(b"x" * 2_000_001)
    with pytest.raises(PlanUnreadable) as caught:
        open_plan(library, find(library, "importer"))
    assert caught.value.what == snapshot("plans/PROGRESS.md has more than 2,000,000 bytes")
