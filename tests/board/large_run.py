"""A repository whose journal has one run of many phases, with its evidence and a large difference."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.events.attempts import (
    AttemptBegun,
    AttemptEnded,
    ChecksDone,
    TreeKept,
    VerdictGiven,
    VerifierBegun,
)
from asbuilt.events.options_json import read_options
from asbuilt.events.phases import (
    BaselineDone,
    PhaseBegun,
    PhaseProven,
    SetupDone,
    TestsResolved,
    WorkspaceMade,
)
from asbuilt.events.plans import PlanNoted
from asbuilt.events.runs import RunStarted
from asbuilt.flows.registration import enrol
from asbuilt.git.repository import open_repository
from asbuilt.journal import runs
from asbuilt.journal.engine import segments
from asbuilt.journal.events import append, open_plan
from asbuilt.journal.ids import LOCAL, Address, Segment
from asbuilt.plan.reader import read
from asbuilt.proof.evidence import Evidence

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from asbuilt.events.event import Event, Outcome
    from asbuilt.wiring import Journal

PLAN: Final = "plans/large.md"
RUN: Final = "0run-large"
_EACH: Final = 4
"""Events of an attempt."""


class Large(NamedTuple):
    """Where the run is."""

    repo: str
    phases: int
    attempts: int
    """Of each phase."""
    address: Address


def plan_of(phases: int) -> str:
    """Write a plan whose phases come in waves of four."""
    parts = ["# A large plan\n"]
    for number in range(1, phases + 1):
        needs = ", ".join(f"Phase {one}" for one in _needs(number)) or "None"
        parts.append(
            f"## Phase {number} — Part {number} of the large plan\n"
            f"### Dependencies\n{needs}.\n### Work Items\n"
            f"- [ ] `part{number}.py` does what part {number} is about\n"
            f"### Verification\n- `grep -q part part{number}.py`\n"
        )
    return "\n".join(parts)


def _needs(phase: int) -> list[str]:
    wave = (phase - 1) // 4
    return [f"{4 * wave - at}" for at in range(4)] if wave else []


def make(journal: Journal, shop: Path, *, phases: int, events: int, diff_bytes: int) -> Large:
    """Write the run: all phases but the last are proven, the last is worked on."""
    text = plan_of(phases)
    commit, tree = _commit(shop, text, diff_bytes)
    repo = enrol(journal.store, open_repository(shop))
    address = Address(LOCAL, repo, PLAN)
    attempts = max(1, (events // phases - 4) // _EACH)
    options = {
        "slug": "large", "mode": "finish", "auto": True, "agent": "scripted", "branch": "main",
        "checkout": str(shop),
    }  # fmt: skip
    with journal.store.write() as session:
        open_plan(session, address, "large")
        run = runs.request(
            session, address, run=RUN, slug="large", options=read_options(options), actor="ann"
        )
        for event, key in _course(journal, text, phases, attempts, (commit, tree)):
            append(session, address, event, key=f"{RUN}/{key}", actor="asbuilt", run=RUN)
        # No worker takes it up.
        segments.close(session, Segment(LOCAL, repo, RUN, 1, "", ""))
        runs.set_state(session, run, "running")
    return Large(repo, phases, attempts, address)


def note(journal: Journal, large: Large, number: int) -> None:
    """Write one more event of the plan."""
    with journal.store.write() as session:
        append(session, large.address, PlanNoted(note=f"look {number}"), key=f"note/{number}", actor="ann")


def _course(
    journal: Journal, text: str, phases: int, attempts: int, kept: tuple[str, str]
) -> Iterator[tuple[Event, str]]:
    plan, blobs = read(text.encode()), journal.blobs
    needs = {f"{phase}": _needs(phase) for phase in range(1, phases + 1)}
    titles = {one.id: one.title for one in plan.phases}
    outline = {"phases": needs, "titles": titles, "done": [], "unlanded": []}
    frozen, output = blobs.put(text.encode()), blobs.put(b"grep: no match\n" * 40)
    yield RunStarted(base=kept[0], outline=blobs.put(json.dumps(outline).encode())), "started"
    yield TestsResolved(source="given", command="make test"), "tests"
    yield WorkspaceMade(lane="main"), "workspace"
    yield SetupDone(outcome="PASS", digest="none", why="none is set"), "setup"
    yield BaselineDone(outcome="PASS", why="214 ran", ran=214, failed=0), "baseline"
    for phase in range(1, phases + 1):
        yield PhaseBegun(phase=f"{phase}", intent=plan.intent, text=frozen), f"{phase}/begun"
        for number in range(1, attempts + 1):
            is_last = number == attempts
            if is_last and phase == phases:
                yield AttemptBegun(phase=f"{phase}", number=number, role="fix"), f"{phase}/{number}/begun/1"
            else:
                outcome: Outcome = "PASS" if is_last else "FAIL"
                yield from _attempt(journal, (f"{phase}", number), kept, output, outcome)
        if phase < phases:
            yield PhaseProven(phase=f"{phase}", commit=kept[0]), f"{phase}/proven"


def _attempt(
    journal: Journal, at: tuple[str, int], kept: tuple[str, str], output: str, outcome: Outcome
) -> Iterator[tuple[Event, str]]:
    """Give the events of an attempt whose check passes or fails; the last one is verified."""
    (phase, number), blobs, passes = at, journal.blobs, outcome == "PASS"
    key, role = f"{phase}/{number}", "implement" if number == 1 else "fix"
    shown = Evidence(
        f"grep -q part part{phase}.py", ("grep", "-q", "part", f"part{phase}.py"), 1 - passes, outcome,
        "" if passes else "exit 1", None, None, None, output, 0.4 + number / 100, kept[1],
    )  # fmt: skip
    evidence = blobs.put(json.dumps([shown._asdict()]).encode())
    yield AttemptBegun(phase=phase, number=number, role=role, agent="scripted"), f"{key}/begun/1"
    says = f"Attempt {number} of phase {phase} is done, and its tests pass."
    ended = AttemptEnded(
        phase=phase, number=number, ending="done", attempt=f"{phase}.{number}", cost_usd=0.04, says=says
    )
    yield ended, f"{key}/ended/1"
    yield TreeKept(phase=phase, number=number, commit=kept[0], tree=kept[1], changed=True), f"{key}/kept"
    told = () if passes else (f"grep -q part part{phase}.py: FAIL, exit 1",)
    done = ChecksDone(phase=phase, number=number, outcome=outcome, evidence=evidence, failures=told)
    yield done, f"{key}/checks"
    if passes:
        item = [1, f"`part{phase}.py` does it", "PASS", "", [f"part{phase}.py:1"], ""]
        items = blobs.put(json.dumps([item]).encode())
        yield VerifierBegun(phase=phase, number=number), f"{key}v/begun"
        verdict = VerdictGiven(
            phase=phase, number=number, outcome="PASS", attempt=f"{phase}.{number}v", items=items
        )
        yield verdict, f"{key}/verdict"


def _commit(shop: Path, text: str, size: int) -> tuple[str, str]:
    """Commit the plan, and make a commit beside the branch that adds a file of this size."""
    git = ["git", "-C", str(shop), "-c", "user.name=Ann", "-c", "user.email=ann@example.com"]
    environ = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}

    def said(*arguments: str) -> str:
        done = subprocess.run([*git, *arguments], check=True, capture_output=True, text=True, env=environ)
        return done.stdout.strip()

    (shop / "plans").mkdir(parents=True)
    (shop / PLAN).write_text(text, encoding="utf-8")
    said("init", "-q", "-b", "main")
    said("add", ".")
    said("commit", "-qm", "start")
    line = "one line of a generated file, as agents write them\n"
    (shop / "large.txt").write_text(line * (size // len(line)), encoding="utf-8")
    said("add", ".")
    tree = said("write-tree")
    commit = said("commit-tree", tree, "-p", "HEAD", "-m", "attempt")
    said("reset", "-q", "--hard")
    return commit, tree
