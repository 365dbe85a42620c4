"""What `asbuilt author` does before any agent is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from asbuilt.lifecycle.critique.principles import TEMPLATE
from tests.cli.test_agents import asked, typed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

OURS = "# Ours\n\n- P1 small: one screen at most.\n- P2 owner: each phase names who runs it.\n"


def test_what_plans_are_judged_by_is_printed_to_be_edited(shop: Path, environ: dict[str, str]) -> None:
    assert typed(shop, environ, "author", "--principles") == (0, TEMPLATE, "")
    (shop / "ours.md").write_text(OURS, encoding="utf-8")
    there = {**environ, "ASBUILT_AUTHOR_PRINCIPLES": "ours.md"}
    assert typed(shop, there, "author", "--principles") == (0, OURS, "")
    assert asked(shop, there, "author", "--principles") == {"schema": "asbuilt.principles/1", "text": OURS}


def test_memory_is_emptied_and_that_is_said(shop: Path, environ: dict[str, str]) -> None:
    typed(shop, environ, "memory", "add", "Redis 6 is what we run")
    assert typed(shop, environ, "author", "--clear-memory") == (0, "", "Deleted 1 memory.\n")
    assert typed(shop, environ, "memory", "list") == (0, "No memories of this repository.\n", "")
    assert typed(shop, environ, "author", "--clear-memory") == (0, "", "No memories of this repository.\n")


@pytest.mark.usefixtures("named")
def test_where_nothing_is_committed_no_authoring_is_begun(asbuilt: Callable[..., str], shop: Path) -> None:
    (shop / ".git/refs/heads/main").unlink()
    assert asbuilt("author", "greet people", "--script", "/dev/null") == snapshot("""\
exit 4
--- stderr
error: there is no commit on main
  Why:  Agents work in a checkout of what is committed.
  Next: git add -A && git commit --allow-empty -m "First commit"
""")
    assert asbuilt("status") == snapshot("""\
exit 0
--- stdout
Nothing has run here.
--- stderr
Next: asbuilt plan list
""")


def test_a_mode_with_its_own_stages_refuses_a_limit_of_them(asbuilt: Callable[..., str]) -> None:
    for mode in ("light", "standard", "interview"):
        assert asbuilt("author", "greet people", f"--{mode}", "--max-phases", "3") == (
            "exit 2\n--- stderr\n"
            f"error: --{mode} has its own stages, so --max-phases cannot change them\n"
            "  Why:  Only --staged takes a choice of stages.\n"
            '  Next: asbuilt author "greet people" --staged\n        # or leave --max-phases out\n'
        )


def test_a_name_that_no_file_can_have_is_refused_with_one_that_it_can(asbuilt: Callable[..., str]) -> None:
    assert asbuilt("author", "greet people", "--name", "Grüß sie") == snapshot("""\
exit 2
--- stderr
error: "Grüß sie" cannot name a plan
  Why:  A plan's name is typed in commands: letters a-z, digits and hyphens, no
        hyphen in front, and not more than 100.
  Next: asbuilt author 'greet people' --name gruess-sie
""")
    assert asbuilt("author", "greet people", "--name", "greet-" * 50)[-60:] == snapshot(
        "r 'greet people' --name greet-greet-greet-greet-greet-greet\n"
    )
