"""`asbuilt demo`: show a whole run of a small plan. Its one rule: what it shows, the real commands do.

It types what a person would type, in a folder of its own that goes with it.
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from asbuilt.agents.ring import probe
from asbuilt.cli.caught import block, caught
from asbuilt.cli.commands import Command
from asbuilt.cli.demo.stage import PLAN, Stage
from asbuilt.cli.options import Door, shared
from asbuilt.cli.screen import ASCII, cut, printable
from asbuilt.cli.site import Site, site_of
from asbuilt.errors import DONE, FAILED
from asbuilt.journal.views import events_of, run_view
from asbuilt.proof.evidence import evidence_from

if TYPE_CHECKING:
    from collections.abc import Sequence

    from asbuilt.cli.caught import Caught
    from asbuilt.journal.views import RunView
    from asbuilt.proof.evidence import Evidence

_AGENT: Final = "scripted"
_RUN: Final = ("run", PLAN, "--finish", "--auto", "--foreground", "--script", "../agent.toml")
_RINGS: Final = {"bwrap": "The ring (bubblewrap)", "seatbelt": "The ring (Seatbelt)"}
_ENDS_WITHIN_S: Final = 15.0
_NEXT: Final = (
    ("asbuilt doctor", "is this machine ready for your own plans?"),
    ('asbuilt plan new "what you want"', "write a plan to fill in"),
    ("asbuilt run PLAN --script FILE", "run it; docs/scripted-agent.md has scripts"),
)


@click.command(
    "demo",
    cls=Command,
    examples=[
        ("asbuilt demo", "a plan of four phases, proven and landed: 30 s, no model"),
        ("asbuilt demo --keep", "leave its repository, to look around in"),
    ],
)
@click.option("--fast", is_flag=True, help="without the pauses for whoever looks on")
@click.option("--keep", is_flag=True, help="leave the demo's folder, and say where it is")
@shared(json=True)
def command(door: Door, *, fast: bool, keep: bool) -> int:
    """Show a small plan being run, proven and landed, in a repository of its own.

    The agent plays a script instead of asking a model. Git, engine, checks and landing are the real ones. On
    the way a verifier finds a gap, and a check catches the agent in a lie. Nothing of yours is touched.
    """
    folder = Path(tempfile.mkdtemp(prefix="asbuilt-demo-")).resolve()
    stage = Stage(folder, door.environ)
    try:
        stage.set_up(fast=fast)
        return _play(door, stage, folder if keep else None)
    finally:
        stage.end_attempts()
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def _play(door: Door, stage: Stage, kept: Path | None) -> int:
    _introduce(door, stage)
    if not door.json:
        _type(door, stage, ("plan", "show", PLAN))
        door.screen.talk()
    said = _type(door, stage, _RUN)
    site = site_of(replace(door, start=stage.shop, environ=stage.environ), PLAN)
    view, lies = _what_came(site)
    landed = view.run.state == "landed"
    if door.json:
        _emit(door, said, lies, kept, landed=landed)
        return DONE if landed else FAILED
    titles = {phase.id: phase.title for phase in view.phases}
    for one in lies:
        door.screen.talk()
        for row in block(door.screen.err, one, agent=_AGENT, title=titles[one.phase]):
            door.screen.talk(row)
    door.screen.talk()
    _conclude(door, stage, kept, landed=landed)
    return DONE if landed else FAILED


def _introduce(door: Door, stage: Stage) -> None:
    pen, ring = door.screen.err, probe()
    place = cut(printable(str(stage.shop)), pen.width - len("It works in ."), symbols=pen.symbols)
    held = _RINGS.get(ring.for_work)
    unheld = "No ring is here to hold the agent, which plays only our script: `asbuilt doctor`"
    for line in (
        "A plan of four phases. The agent plays a script; everything else is real.",
        f"It works in {place}. Nothing else is touched.",
        f"{held} holds the agent and the checks." if held else unheld,
    ):
        for row in pen.hanging("", line):
            door.screen.talk(row)
    door.screen.talk()


def _type(door: Door, stage: Stage, arguments: Sequence[str]) -> str:
    """Type a command of our own, let it speak for itself, and give back what it answered in JSON."""
    door.screen.talk(f"$ {door.screen.err.bold(shlex.join(('asbuilt', *arguments)))}")
    door.screen.out.flush()
    process = subprocess.Popen(  # noqa: S603 - our own program
        (sys.executable, "-P", "-m", "asbuilt", *arguments, *_flags(door)),
        cwd=stage.shop,
        env=stage.environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if door.json else None,
        text=True,
    )
    try:
        said, _ = process.communicate()
    except KeyboardInterrupt:
        # The terminal has told the child too; it leaves in its own way.
        process.wait(_ENDS_WITHIN_S)
        raise
    finally:
        process.kill()
        process.wait()
    return said or ""


def _flags(door: Door) -> list[str]:
    screen = door.screen
    wanted = {
        "--json": door.json,
        "--plain": screen.err.symbols is ASCII,
        "--no-color": not screen.err.styled,
        "--quiet": screen.quiet,
        "--verbose": screen.verbose,
    }
    return [flag for flag, is_wanted in wanted.items() if is_wanted]


def _what_came(site: Site) -> tuple[RunView, list[Caught]]:
    def evidence(digest: str) -> list[Evidence]:
        return [evidence_from(one) for one in json.loads(site.journal.blobs.get(digest))]

    run = site.run(PLAN)
    with site.journal.store.read() as session:
        view = run_view(session, site.journal.blobs, run)
        return view, caught(events_of(session, site.journal.blobs, run.address), evidence)


def _conclude(door: Door, stage: Stage, kept: Path | None, *, landed: bool) -> None:
    screen, pen = door.screen, door.screen.err
    if landed:
        screen.talk("Both were fixed and proven before anything landed.")
    if kept:
        screen.talk("To look around (asbuilt log, git log, asbuilt land --undo):")
        screen.talk(f"  {pen.bold(f'cd {shlex.quote(str(stage.shop))}')}")
        screen.talk(f"  {pen.bold(f'export ASBUILT_HOME={shlex.quote(str(stage.state))}')}")
        screen.talk(f"  {pen.bold(f'asbuilt status {PLAN}')}")
    screen.talk("In a repository of yours:")
    for what, meaning in _NEXT:
        screen.talk(f"  {pen.bold(what)}{' ' * (34 - len(what))}{meaning}")


def _emit(door: Door, said: str, lies: Sequence[Caught], kept: Path | None, *, landed: bool) -> None:
    run: dict[str, Any] = json.loads(said) if said else {}
    door.screen.emit_json(
        {
            "schema": "asbuilt.demo/1",
            "landed": landed,
            "ring": probe().for_work,
            "folder": printable(str(kept)) if kept else None,
            "caught": [
                {"phase": one.phase, "attempt": one.number, "says": one.says, "against": list(one.against)}
                for one in lies
            ],
            "run": run,
            "exit": DONE if landed else FAILED,
        }
    )
