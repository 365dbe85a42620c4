"""Plans are looked for in a fixed order, each file once, and never outside of the repository."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from asbuilt.library.search_path import PlanFile, describe, is_inside, open_library, plans

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def _put(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"# {name}\n")


def _shown(start: Path, home: Path, folder: str = "plans") -> list[str]:
    return [plan.shown for plan in plans(open_library(start, home=home, folder=folder))]


def test_every_neighbours_place_is_looked_at_in_this_order(shop: Path, home: Path) -> None:
    _put(
        shop,
        "task_plan.md",
        "openspec/changes/add-auth/tasks.md",
        "specs/003-login/tasks.md",
        "specs/003-login/plans/b.md",
        "specs/003-login/plans/a.md",
        "docs/superpowers/plans/2026-01-01-retry.md",
        "docs/plans/completed/old.md",
        "docs/plans/search.md",
        "plans/rate-limit.md",
        "agreed/first.md",
    )
    _put(home, ".claude/plans/brave-fox.md")
    assert _shown(shop, home, "agreed") == [
        "agreed/first.md",
        "plans/rate-limit.md",
        "docs/plans/search.md",
        "docs/plans/completed/old.md",
        "docs/superpowers/plans/2026-01-01-retry.md",
        "specs/003-login/plans/a.md",
        "specs/003-login/plans/b.md",
        "specs/003-login/tasks.md",
        "openspec/changes/add-auth/tasks.md",
        "task_plan.md",
        "~/.claude/plans/brave-fox.md",
    ]


def test_what_lies_elsewhere_or_is_no_markdown_file_is_no_plan(shop: Path, home: Path) -> None:
    _put(shop, "README.md", "plans/notes.txt", "plans/deep/x.md", "specs/tasks.md", "docs/guide.md")
    _put(shop, "plans/.hidden.md")
    (shop / "plans" / "folder.md").mkdir()
    os.mkfifo(shop / "plans" / "pipe.md")
    (shop / "plans" / "dangling.md").symlink_to("nowhere.md")
    (shop / "plans" / "circle.md").symlink_to("circle.md")
    assert _shown(shop, home) == []


def test_looking_writes_nothing(shop: Path, home: Path) -> None:
    before = sorted(shop.rglob("*")), sorted(home.rglob("*"))
    plans(open_library(shop, home=home))
    assert (sorted(shop.rglob("*")), sorted(home.rglob("*"))) == before


def test_a_file_under_two_names_is_listed_once(shop: Path, home: Path) -> None:
    _put(shop, "docs/plans/search.md")
    (shop / "plans").mkdir()
    (shop / "plans" / "alias.md").symlink_to("../docs/plans/search.md")
    assert _shown(shop, home) == ["plans/alias.md"]


def test_outside_of_a_repository_only_the_users_folder_is_looked_at(tmp_path: Path, home: Path) -> None:
    _put(tmp_path, "plans/stray.md")
    _put(home, ".claude/plans/brave-fox.md")
    library = open_library(tmp_path, home=home)
    assert (library.repository, library.folder) == (None, None)
    assert plans(library) == [
        PlanFile(
            file=home / ".claude/plans/brave-fox.md",
            shown="~/.claude/plans/brave-fox.md",
            slug="brave-fox",
            repository="",
        )
    ]


def test_links_out_of_the_repository_are_somebody_elses_files(shop: Path, home: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    _put(outside, "secret.md", "plans/secret.md")
    _put(shop, "plans/own.md")
    (shop / "plans" / "file.md").symlink_to(outside / "secret.md")
    (shop / "docs").mkdir()
    (shop / "docs" / "plans").symlink_to(outside)
    (shop / "specs").mkdir()
    (shop / "specs" / "003").symlink_to(outside)
    assert _shown(shop, home) == ["plans/own.md"]


@pytest.mark.parametrize("folder", ["../shop-api-evil", "..", "plans/../..", "/etc", "out", "out/deeper"])
def test_a_plans_folder_outside_of_the_repository_is_refused(
    shop: Path, home: Path, tmp_path: Path, folder: str
) -> None:
    _put(tmp_path, "shop-api-evil/x.md", "x.md")
    (shop / "out").symlink_to(tmp_path)
    library = open_library(shop, home=home, folder=folder)
    assert (library.folder, library.refused, plans(library)) == (shop / "plans", folder, [])


@pytest.mark.parametrize("folder", [".", "plans/../docs", "in", "not/there/yet"])
def test_a_plans_folder_that_stays_inside_is_used(shop: Path, home: Path, folder: str) -> None:
    (shop / "docs").mkdir()
    (shop / "in").symlink_to("docs")
    library = open_library(shop, home=home, folder=folder)
    assert (library.folder, library.refused) == (shop / folder, None)


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        ("proj", True),
        ("proj/x", True),
        ("proj-evil", False),
        ("proj/../proj-evil", False),
        ("proj/back/x", True),
        ("proj/circle", True),
    ],
)
def test_inside_means_below_the_root_after_all_links(tmp_path: Path, path: str, *, inside: bool) -> None:
    (tmp_path / "proj").mkdir()
    (tmp_path / "proj" / "back").symlink_to(".")
    (tmp_path / "proj" / "circle").symlink_to("circle")
    assert is_inside(tmp_path / path, tmp_path / "proj") is inside


def test_identity_is_repository_and_path_in_every_worktree_and_not_in_a_copy(
    shop: Path, home: Path, tmp_path: Path, git: Callable[..., None]
) -> None:
    _put(shop, "plans/login.md")
    git(shop, "add", ".")
    git(shop, "commit", "-q", "-m", "plan")
    linked, copy = tmp_path / "linked", tmp_path / "copy"
    git(shop, "worktree", "add", "-q", str(linked))
    shutil.copytree(shop, copy)
    identities = [
        (plan.repository, plan.shown)
        for start in (shop, linked, copy)
        for plan in plans(open_library(start, home=home))
    ]
    assert identities == [
        (str(shop / ".git"), "plans/login.md"),
        (str(shop / ".git"), "plans/login.md"),
        (str(copy.resolve() / ".git"), "plans/login.md"),
    ]


@pytest.mark.parametrize(
    ("path", "slug"),
    [
        ("plans/FEATURE_PLAN.md", "feature-plan"),
        ("plans/2026-01-01-retry.md", "2026-01-01-retry"),
        ("specs/003-login/tasks.md", "003-login"),
        ("specs/003-login/plan.md", "003-login"),
        ("specs/Login Page/tasks.md", "tasks"),
        ("plans/My Plan.md", ""),
        ("plans/-x.md", ""),
        ("plans/größe.md", ""),
        ("plans/.md", ""),
    ],
)
def test_a_plan_is_called_by_its_file_and_tasks_by_their_folder(
    shop: Path, home: Path, path: str, slug: str
) -> None:
    _put(shop, path)
    described = describe(open_library(shop, home=home), shop / path)
    assert described == PlanFile(file=shop / path, shown=path, slug=slug, repository=str(shop / ".git"))


def test_two_files_with_one_name_are_two_plans(shop: Path, home: Path) -> None:
    _put(shop, "plans/login.md", "docs/plans/LOGIN.md")
    found = plans(open_library(shop, home=home))
    assert [(plan.slug, plan.shown) for plan in found] == [
        ("login", "plans/login.md"),
        ("login", "docs/plans/LOGIN.md"),
    ]
    assert len({(plan.repository, plan.shown) for plan in found}) == 2


def test_a_named_link_out_of_the_repository_is_shown_as_what_it_leads_to(
    shop: Path, home: Path, tmp_path: Path
) -> None:
    _put(tmp_path, "outside.md")
    _put(home, "notes.md")
    _put(shop, "docs/real.md")
    for name, target in (("a", tmp_path / "outside.md"), ("b", home / "notes.md"), ("c", "docs/real.md")):
        (shop / f"{name}.md").symlink_to(target)
    library = open_library(shop, home=home)
    shown = [(plan.shown, plan.repository) for plan in (describe(library, shop / f"{x}.md") for x in "abc")]
    assert shown == [
        (str(tmp_path.resolve() / "outside.md"), ""),
        ("~/notes.md", ""),
        ("c.md", str(shop / ".git")),
    ]


def test_names_that_are_not_utf8_are_kept(shop: Path, home: Path) -> None:
    (shop / "plans").mkdir()
    name = os.fsdecode(b"caf\xe9.md")
    (shop / "plans" / name).write_text("# x\n")
    assert [(plan.shown, plan.slug) for plan in plans(open_library(shop, home=home))] == [
        (f"plans/{name}", "")
    ]
