"""`asbuilt demo`: show a whole run of a small plan. Rule: the real commands do everything it shows.

It runs them in a temporary folder, which is deleted at the end unless --keep is given, and with settings of
its own.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, NamedTuple

import click

from asbuilt.agents.sandbox.launch import probe
from asbuilt.cli.live.finished import Source, against_verdict
from asbuilt.cli.shell.options import Door, subcommand
from asbuilt.cli.shell.run_context import Site, site_of
from asbuilt.cli.shell.scratch import Scratch
from asbuilt.cli.ui.columns import cut_middle
from asbuilt.cli.ui.messages import next_command
from asbuilt.cli.ui.screen import Pen, printable
from asbuilt.errors import DONE, FAILED, INTERRUPTED
from asbuilt.events.attempts import AttemptEnded, ChecksDone, VerdictGiven
from asbuilt.events.event import Entry
from asbuilt.journal.queries.overview import RunView, events_of, run_view
from asbuilt.proof.evidence import Evidence, evidence_from

_LABEL: Final = 14
_INDENT: Final = 6


class Caught(NamedTuple):
    """An attempt that said done, and was refuted."""

    phase: str
    number: int
    says: str
    against: tuple[tuple[Source, str], ...]


def caught(entries: Iterable[Entry], evidence: Callable[[str], Sequence[Evidence]]) -> list[Caught]:
    """Return each attempt in a run's events that said done and was refuted by a check or the verifier."""
    found: list[Caught] = []
    says = ""
    for entry in entries:
        match entry.event:
            case AttemptEnded() as event:
                says = event.says if event.ending == "done" else ""
            case ChecksDone() as event if says and event.outcome != "PASS":
                shown = evidence(event.evidence) if event.evidence else ()
                ran = tuple((Source.CHECK, _shown(check)) for check in shown if check.outcome != "PASS")
                seen = tuple((Source.CHANGE, str(failure)) for failure in event.failures)
                found.append(Caught(event.phase, event.number, says, ran or seen))
            case VerdictGiven() as event if says and event.outcome != "PASS":
                found.append(Caught(event.phase, event.number, says, tuple(against_verdict(event))))
            case _:
                pass
    return found


def _shown(check: Evidence) -> str:
    code = f"exit {check.exit_code}, but " if check.exit_code == 0 else ""
    return f"{check.command} on a clean checkout: {code}{check.why}"


def block(pen: Pen, lie: Caught, *, agent: str, title: str) -> list[str]:
    """Return the rows of a refuted attempt: a headline, the claim, the findings, and what happens next."""
    symbol, shown = pen.symbols.failed, cut_middle(printable(title), pen.width - 20, pen.symbols)
    lead = f"{symbol} {lie.phase:<4}{shown}   "
    first, *rest = pen.hanging(lead, f"`NOT PROVEN:` the agent says done, {_who(lie)}", under=_INDENT)
    rows = [pen.red(symbol) + first.removeprefix(symbol), *rest]
    for label, text in (
        (f"{agent} says", f'"{lie.says}"'),
        *((source.value, text) for source, text in lie.against),
        ("so", f"sent back to the agent (attempt {lie.number + 1})"),
    ):
        lead = f"{'':<{_INDENT}}{label:<{_LABEL}}"
        words = (cut_middle(printable(word), pen.width - len(lead), pen.symbols) for word in text.split())
        rows += pen.hanging(lead, " ".join(words), commands=False)
    return rows


def _who(lie: Caught) -> str:
    sources = {source for source, _ in lie.against}
    if Source.CHECK in sources:
        return "a check disagrees"
    if Source.CHANGE in sources:
        return "rejected by asbuilt"
    return "another agent disagrees" if Source.VERIFIER in sources else "its verdict does not hold"


PLAN: Final = "rate-limit"
_SLEEP: Final = re.compile(r"sleep = ([\d.]+)")
_FILES: Final = {
    "asbuilt.toml": """\
[checks]
tests = "python3 -m unittest discover tests"
""",
    "shop.py": '''\
"""The shop's API: a path in, a status out."""


def answer(path):
    return 200 if path.startswith("/v1/") else 404
''',
    "tests/test_shop.py": """\
import unittest

from shop import answer


class ShopTest(unittest.TestCase):
    def test_a_known_path(self):
        self.assertEqual(answer("/v1/cart"), 200)

    def test_an_unknown_path(self):
        self.assertEqual(answer("/cart"), 404)

    def test_a_busy_day(self):
        self.assertEqual([answer("/v1/cart") for _ in range(9)], [200] * 9)
""",
}


class Scene(Scratch):
    """The folder of a demo; nothing is left elsewhere."""

    def __init__(self, folder: Path, environ: Mapping[str, str]) -> None:
        own = {
            # The Python that runs asbuilt is certain to exist.
            "PATH": os.pathsep.join((str(Path(sys.executable).parent), environ.get("PATH", os.defpath))),
            "ASBUILT_AGENTS_IMPLEMENT": "scripted",
            "ASBUILT_SANDBOX_REQUIRED": "false",
            # One phase after the other is easier to follow.
            "ASBUILT_RUN_LANES": "1",
            # The shop needs no packages, and the demo must work offline.
            "ASBUILT_CHECKS_SETUP": "none",
            "XDG_CONFIG_HOME": str(folder / "config"),
        }
        super().__init__(folder, "shop-api", environ, own)
        self.script = folder / "agent.toml"

    def prepare(self, *, pace: float) -> None:
        """Write the repository with its plan, and the script with its pauses scaled by `pace`."""
        script = _SLEEP.sub(lambda sleep: f"sleep = {float(sleep[1]) * pace}", _own("agent.toml"))
        self.script.write_text(script, encoding="utf-8")
        self.build({**_FILES, f"plans/{PLAN}.md": _own(f"{PLAN}.md")}, message="A shop without limits")


def _own(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


_AGENT: Final = "scripted"
_RUN: Final = ("run", PLAN, "--finish", "--auto", "--foreground", "--script", "../agent.toml")
_SANDBOXES: Final = {"bwrap": "The sandbox (bubblewrap)", "seatbelt": "The sandbox (Seatbelt)"}


@subcommand(
    "demo",
    ("asbuilt demo", "a plan of four phases, proven and landed: a minute, no model"),
    ("asbuilt demo --keep", "leave its repository, to look around in"),
)
@click.option("--fast", is_flag=True, help="without the pauses for readers")
@click.option("--keep", is_flag=True, help="leave the demo's folder, and say where it is")
@click.option("--pace", type=float, default=1.0, hidden=True)
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
            _print(door, "Interrupted. To look at what it left:")
            _where(door, scene)
        else:
            scene.delete()
            _print(door, "Interrupted. Nothing of the demo is left; `asbuilt demo` starts it again.")
        return INTERRUPTED
    finally:
        scene.end_attempts() if keep else scene.delete()


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
    for lie in lies:
        door.screen.talk()
        door.screen.talk_all(block(door.screen.err, lie, agent=_AGENT, title=titles[lie.phase]))
    door.screen.talk()
    if landed:
        _print(door, "Both were fixed and proven before anything landed.")
    if kept:
        _print(door, "To look around, with asbuilt log, git log or asbuilt land --undo:")
        _where(door, scene)
    next_command(door, "asbuilt init", comment="in a repository of your own")
    return DONE if landed else FAILED


def _introduce(door: Door, scene: Scene) -> None:
    pen = door.screen.err
    place = cut_middle(printable(str(scene.checkout)), pen.width - len("It works in ."), pen.symbols)
    held = _SANDBOXES.get(probe().for_work)
    unheld = "Sandbox unavailable; the agent plays only the demo's script: `asbuilt doctor`"
    for line in (
        "A plan of four phases. The agent plays a script; everything else is real.",
        f"It works in {place}. Nothing else is touched.",
        f"{held} holds the agent and the checks." if held else unheld,
    ):
        _print(door, line)
    door.screen.talk()


def _what_came(site: Site) -> tuple[RunView, list[Caught]]:
    def evidence(digest: str) -> list[Evidence]:
        return [evidence_from(row) for row in json.loads(site.journal.blobs.get(digest))]

    run = site.run(PLAN)
    with site.journal.store.read() as session:
        view = run_view(session, site.journal.blobs, run)
        return view, caught(events_of(session, site.journal.blobs, run.address), evidence)


def _where(door: Door, scene: Scene) -> None:
    for what in (
        f"cd {shlex.quote(str(scene.checkout))}",
        f"export ASBUILT_HOME={shlex.quote(str(scene.state))}",
        f"asbuilt status {PLAN}",
    ):
        door.screen.talk(f"  {door.screen.err.bold(what)}")


def _print(door: Door, text: str) -> None:
    door.screen.talk_all(door.screen.err.hanging("", text))


def _emit(
    door: Door, run: dict[str, Any], lies: Sequence[Caught], kept: Path | None, *, landed: bool
) -> None:
    door.screen.emit_json(
        {
            "schema": "asbuilt.demo/1",
            "landed": landed,
            "sandbox": probe().for_work,
            "folder": printable(str(kept)) if kept else None,
            "caught": [
                {"phase": lie.phase, "attempt": lie.number, "says": lie.says, "against": lie.against}
                for lie in lies
            ],
            "run": run,
            "exit": DONE if landed else FAILED,
        }
    )
