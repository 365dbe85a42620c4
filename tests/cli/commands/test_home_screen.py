"""Bare `asbuilt` shows where you are, what is set, and the one next command."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

if TYPE_CHECKING:
    from collections.abc import Callable


def test_bare_asbuilt_says_where_you_are_and_writes_nothing(asbuilt: Callable[..., str], shop: Path) -> None:
    before = sorted(shop.rglob("*"))
    assert asbuilt() == snapshot("""\
exit 0
--- stdout
shop-api   on main
  agent    none found: install claude, codex, gemini or opencode
  tests    not set yet; asbuilt doctor --tests finds the command
  sandbox  bubblewrap; asbuilt doctor tests it
  plans    none yet
--- stderr
Next: asbuilt demo
  or  write a plan: asbuilt plan new "what you want"
""")
    assert sorted(shop.rglob("*")) == before


@pytest.mark.parametrize(
    "chosen",
    [
        '[agents]\nimplement = "scripted"\n',
        '[roles]\nimplement = "actor"\n[agents.actor]\nkind = "scripted"\n',
    ],
)
def test_the_first_screen_shows_the_chosen_agent_and_what_it_needs(
    asbuilt: Callable[..., str], shop: Path, environ: dict[str, str], chosen: str
) -> None:
    config = Path(environ["HOME"], ".config", "asbuilt", "config.toml")
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(chosen, encoding="utf-8")
    name = "actor" if "actor" in chosen else "scripted"
    shown = asbuilt()
    assert (f"  agent    {name}\n" in shown, shown.splitlines()[-2]) == (
        True,
        'Next: asbuilt author "what you want to build" --script FILE',
    )
    (shop / "plans").mkdir()
    (shop / "plans" / "login.md").write_text("# Login\n", encoding="utf-8")
    assert asbuilt().splitlines()[-2] == "Next: asbuilt run login --script FILE"


def test_bare_asbuilt_outside_a_repository_says_so(asbuilt: Callable[..., str], tmp_path: Path) -> None:
    assert asbuilt(cwd=tmp_path).splitlines()[2] == snapshot("asbuilt   not in a Git repository")


def test_a_bare_repository_is_named_with_a_command_that_gives_it_files(
    asbuilt: Callable[..., str], tmp_path: Path, shop: Path
) -> None:
    subprocess.run(["git", "clone", "-q", "--bare", shop, tmp_path / "bare.git"], check=True)  # noqa: S607
    shown = asbuilt(cwd=tmp_path / "bare.git")
    assert shown.splitlines()[2] == "bare.git   a bare Git repository, which has no files to work on"
    assert shown.splitlines()[-2] == "Next: git clone . ../checkout"
    told = asbuilt("doctor", cwd=tmp_path / "bare.git")
    assert "this is a bare repository\n" in told
    assert told.endswith("Next: git clone . ../checkout\n")


def test_the_first_screen_names_the_first_plan_when_there_is_one(
    asbuilt: Callable[..., str], shop: Path, tmp_path: Path, environ: dict[str, str]
) -> None:
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    found = {"PATH": f"{program.parent}:{environ['PATH']}"}
    assert asbuilt(**found).splitlines()[-2:] == snapshot(
        ['Next: asbuilt author "what you want to build"', "  or  see a small plan run: asbuilt demo"]
    )
    (shop / "plans").mkdir()
    (shop / "plans" / "login.md").write_text("# Login\n", encoding="utf-8")
    shown = asbuilt(**found)
    assert "  agent    claude\n" in shown
    assert "  plans    1 plan\n" in shown
    assert shown.splitlines()[-2:] == snapshot(
        ["Next: asbuilt run login", "  or  list the plans: asbuilt plan list"]
    )
