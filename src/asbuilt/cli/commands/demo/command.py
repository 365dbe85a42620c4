"""`asbuilt demo`: show a whole run of a small plan. Rule: the real commands do everything it shows.

It runs them in a temporary folder, which is deleted at the end unless --keep is given.
"""

from __future__ import annotations

import json
import shlex
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from asbuilt.agents.sandbox.launch import probe
from asbuilt.cli.commands.demo.scene import PLAN, Scene
from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.shell.site import Site, site_of
from asbuilt.cli.ui.caught import block, caught
from asbuilt.cli.ui.screen import cut, printable
from asbuilt.errors import DONE, FAILED, INTERRUPTED
from asbuilt.journal.queries.overview import events_of, run_view
from asbuilt.proof.evidence import evidence_from

if TYPE_CHECKING:
    from collections.abc import Sequence

    from asbuilt.cli.ui.caught import Caught
    from asbuilt.journal.queries.overview import RunView
    from asbuilt.proof.evidence import Evidence

_AGENT: Final = "scripted"
_RUN: Final = ("run", PLAN, "--finish", "--auto", "--foreground", "--script", "../agent.toml")
_RINGS: Final = {"bwrap": "The ring (bubblewrap)", "seatbelt": "The ring (Seatbelt)"}
_COLUMN: Final = 36
_NEXT: Final = (
    ("asbuilt doctor", "is this machine ready for your own plans?"),
    ('asbuilt author "what you want"', "agents plan it, you approve it"),
    ("asbuilt run PLAN --finish --auto", "all phases proven, then landed"),
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
@click.option("--pace", type=float, default=1.0, hidden=True)
@shared(json=True)
def command(door: Door, *, fast: bool, keep: bool, pace: float) -> int:
    """Show a small plan being run, proven and landed, in a repository of its own.

    The agent plays a script instead of asking a model. Git, engine, checks and landing are the real ones. On
    the way a verifier finds a gap, and a check catches the agent in a lie. Nothing of yours is touched.
    """
    folder = Path(tempfile.mkdtemp(prefix="asbuilt-demo-")).resolve()
    scene = Scene(folder, door.environ)
    try:
        scene.prepare(pace=0 if fast else pace)
        return _play(door, scene, folder if keep else None)
    except KeyboardInterrupt:
        door.screen.talk()
        if keep:
            _say(door, "Interrupted. To look at what it left:")
            _where(door, scene)
        else:
            _say(door, "Interrupted. Nothing of the demo is left; `asbuilt demo` starts it again.")
        return INTERRUPTED
    finally:
        scene.end_attempts()
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def _play(door: Door, scene: Scene, kept: Path | None) -> int:
    _introduce(door, scene)
    if not door.json:
        scene.type(door, ("plan", "show", PLAN), json_wanted=False)
        door.screen.talk()
    run = scene.type(door, _RUN, json_wanted=door.json)
    site = site_of(door._replace(start=scene.checkout, environ=scene.environ), PLAN)
    view, lies = _what_came(site)
    landed = view.run.state == "landed"
    if door.json:
        _emit(door, run, lies, kept, landed=landed)
        return DONE if landed else FAILED
    titles = {phase.id: phase.title for phase in view.phases}
    for one in lies:
        door.screen.talk()
        for row in block(door.screen.err, one, agent=_AGENT, title=titles[one.phase]):
            door.screen.talk(row)
    door.screen.talk()
    _conclude(door, scene, kept, landed=landed)
    return DONE if landed else FAILED


def _introduce(door: Door, scene: Scene) -> None:
    pen, ring = door.screen.err, probe()
    place = cut(printable(str(scene.checkout)), pen.width - len("It works in ."), symbols=pen.symbols)
    held = _RINGS.get(ring.for_work)
    unheld = "No ring is here to hold the agent, which plays only our script: `asbuilt doctor`"
    for line in (
        "A plan of four phases. The agent plays a script; everything else is real.",
        f"It works in {place}. Nothing else is touched.",
        f"{held} holds the agent and the checks." if held else unheld,
    ):
        _say(door, line)
    door.screen.talk()


def _what_came(site: Site) -> tuple[RunView, list[Caught]]:
    def evidence(digest: str) -> list[Evidence]:
        return [evidence_from(one) for one in json.loads(site.journal.blobs.get(digest))]

    run = site.run(PLAN)
    with site.journal.store.read() as session:
        view = run_view(session, site.journal.blobs, run)
        return view, caught(events_of(session, site.journal.blobs, run.address), evidence)


def _conclude(door: Door, scene: Scene, kept: Path | None, *, landed: bool) -> None:
    screen, pen = door.screen, door.screen.err
    if landed:
        _say(door, "Both were fixed and proven before anything landed.")
    if kept:
        _say(door, "To look around, with asbuilt log, git log or asbuilt land --undo:")
        _where(door, scene)
    screen.talk()
    screen.talk("In a repository of yours:")
    for what, meaning in _NEXT:
        if _COLUMN + len(meaning) <= pen.width:
            screen.talk(f"  {pen.bold(what)}{' ' * (_COLUMN - 2 - len(what))}{meaning}")
        else:
            screen.talk(f"  {pen.bold(what)}")
            _say(door, meaning, lead="    ")


def _where(door: Door, scene: Scene) -> None:
    for what in (
        f"cd {shlex.quote(str(scene.checkout))}",
        f"export ASBUILT_HOME={shlex.quote(str(scene.state))}",
        f"asbuilt status {PLAN}",
    ):
        door.screen.talk(f"  {door.screen.err.bold(what)}")


def _say(door: Door, text: str, *, lead: str = "") -> None:
    for row in door.screen.err.hanging(lead, text):
        door.screen.talk(row)


def _emit(
    door: Door, run: dict[str, Any], lies: Sequence[Caught], kept: Path | None, *, landed: bool
) -> None:
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
