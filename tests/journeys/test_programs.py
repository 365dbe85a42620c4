"""A repository whose own git settings name programs: asked about once, and until then none starts."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from tests.git.planted import plant, started
from tests.journeys.shop import one_store
from tests.journeys.test_commands import office
from tests.journeys.test_live import terminal

if TYPE_CHECKING:
    from tests.journeys.shop import Shop
    from tests.journeys.test_commands import Office
    from tests.journeys.test_live import Terminal

__all__ = ["office", "terminal"]
pytestmark = pytest.mark.crash
LOUD = ("filter.loud.smudge", "sed s/hello/HELLO/")
QUIET = ("filter.loud.clean", "sed s/HELLO/hello/")


@one_store
def test_a_whole_run_lands_in_a_hostile_repository_and_starts_no_program_of_its(
    shop: Shop, tmp_path: Path
) -> None:
    shop.commit(".gitattributes", "*.txt filter=x diff=x\n*.cfg filter=y merge=x\n", "attributes")
    for name in ("note.txt", "setup.cfg"):
        shop.commit(name, "as it is\n", "a file")
    shop.lands("greet.py", "plan.md")
    run = shop.request(mode="phase")
    folder = shop.checkout / ".git"
    shutil.copytree(folder / "hooks", tmp_path / "hooks")
    config = (folder / "config").read_bytes()
    trace = plant(folder, tmp_path / "programs")
    for name in ("note.txt", "setup.cfg"):
        # Git reads a file through its filter when its time differs from the index.
        os.utime(shop.checkout / name, (1, 1))
    shop.start()
    assert shop.over(run) == ("landed", "")
    assert started(trace) == []
    shop.kill()
    (folder / "config").write_bytes(config)
    shutil.rmtree(folder / "hooks")
    shutil.copytree(tmp_path / "hooks", folder / "hooks")
    assert shop.log()[:2] == ["Mark plan.md", "Greet"]


def _with_a_filter(office: Office) -> None:
    (office.shop / ".gitattributes").write_text("greet.py filter=loud\n")
    office.git("add", ".gitattributes")
    office.git("commit", "-qm", "attributes")
    for setting in (LOUD, QUIET):
        office.git("config", *setting)


def test_unattended_it_is_refused_before_it_starts_and_one_command_agrees(office: Office) -> None:
    _with_a_filter(office)
    refused = office.run("--finish", "--auto")
    assert re.sub(r"\+[0-9a-f]{12}", "+[DIGEST]", refused) == snapshot("""\
exit 4
--- stderr
Agents   scripted implements and verifies, in separate processes
Cost     Estimate: none yet. Limit: $15.00 (API prices) a run
Lands    on main, by cherry-pick, when proven
error: this repository's own git settings name programs, and you have not agreed
       to them
  Why:  Git would start them as you: filter.loud.smudge = sed s/hello/HELLO/;
        filter.loud.clean = sed s/HELLO/hello/. An agreement holds for this
        folder, these settings and the contents of its files that they name.
  Next: asbuilt config set landing.programs +[DIGEST]
""")
    assert not list(office.state.glob("runs/*"))
    agrees = re.search(r"Next: asbuilt (config set landing\.programs \S+)", refused)
    assert agrees, refused
    office.asbuilt(*shlex.split(agrees[1]))
    landed = office.run("--finish", "--auto")
    assert "greet.1 landed on main: 4 phases proven" in landed
    assert (office.shop / "greet.py").read_text() == "print('HELLO')\n"
    assert office.git("status", "--short") == ""


def test_at_a_terminal_it_is_asked_once_and_a_no_starts_nothing(terminal: Terminal) -> None:
    _with_a_filter(terminal.office)
    run = "asbuilt run greet --finish --script ../script.toml"
    terminal.enter(run)
    assert terminal.await_words("May git start them here? [y/N]") == snapshot("""\
$ asbuilt run greet --finish --script ../script.toml; echo exit $?
Agents   scripted implements and verifies, in separate processes
Cost     Estimate: none yet. Limit: $15.00 (API prices) a run
Lands    on main, when you confirm
This repository's own git settings (.git/config and its includes) name programs:
  filter.loud.smudge = sed s/hello/HELLO/
  filter.loud.clean = sed s/HELLO/hello/
May git start them here? [y/N]
""")
    terminal.type("n")
    terminal.await_words("Next: asbuilt config set landing.programs +", "exit 4")
    terminal.enter(run)
    terminal.await_words("May git start them here? [y/N]")
    terminal.type("y")
    terminal.await_words("scripted: run until test")
    terminal.press("C-c")
    terminal.await_words("Left running", "exit 130")
    kept = Path(terminal.office.environ["HOME"], ".config/asbuilt/config.toml").read_text()
    assert re.fullmatch(r'\[landing\]\nprograms = \["[0-9a-f]{12}"\]\n', kept)
