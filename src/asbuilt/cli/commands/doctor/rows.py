"""Judge the facts. Pure: facts in, rows out; rows are in the order of a run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from shlex import quote
from typing import TYPE_CHECKING, Final

from msgspec import structs

from asbuilt._version import VERSION
from asbuilt.cli.commands.doctor.fixes import remedy_for
from asbuilt.cli.commands.doctor.page import Row, State, Stops, good, judged, note, problem
from asbuilt.cli.ui.messages import as_advice
from asbuilt.cli.ui.words import counted, listed, size
from asbuilt.proof.failure import SET_UP, TRY_AGAIN

if TYPE_CHECKING:
    from asbuilt.cli.commands.doctor import facts as fact
    from asbuilt.journal.notifications import Undelivered

_TIGHT: Final = 2_000_000_000
_FULL: Final = 200_000_000
_CLOCK_OFF_S: Final = 60
_REFUSED: Final = "a write and a connection were refused just now"
_INIT: Final = "`asbuilt init --claude`"
_FIX: Final = "`asbuilt doctor --fix sandbox` shows the change, then asks"
_WITHOUT: Final = "`asbuilt config set sandbox.required false`; reports then say so"
_FAILING: Final = {
    False: "What fails before a run is noted, and does not stop it.",
    True: "Every test fails, so a run may notice no new failure. Repair the tests first.",
}
SANDBOXES: Final = {"bwrap": "bubblewrap", "landlock": "Landlock", "seatbelt": "Seatbelt", "none": ""}


def conclusion(rows: tuple[Row, ...], facts: fact.Facts) -> str:
    """Summarize all rows in one line."""
    problems = [row for row in rows if row.state is State.PROBLEM]
    if problems:
        return f"{counted(len(problems), 'problem')}. {_effect([row.stops for row in problems])}"
    drivable = [agent.name for agent in facts.agents.found if agent.name in facts.agents.driven]
    return "Ready to be left alone." if drivable else "Ready, with the scripted agent."


def most_urgent(rows: tuple[Row, ...]) -> Row | None:
    """Return the problem to fix first: one that stops every run, before one that stops unattended runs."""
    problems = [row for row in rows if row.state is State.PROBLEM]
    return min(problems, key=lambda row: [*Stops].index(row.stops), default=None)


def _effect(stops: list[Stops]) -> str:
    if Stops.RUNS in stops:
        return f"Fix {'it' if len(stops) == 1 else 'them'} before you run a plan."
    return "A run asks you first; --auto stops." if Stops.UNATTENDED in stops else "Runs start."


def judge(facts: fact.Facts) -> tuple[Row, ...]:
    """Return a row for every subject with facts."""
    return tuple(_rows(facts))


def _rows(facts: fact.Facts) -> Iterator[Row]:
    yield judged("git", facts.git, _git)
    for error in facts.settings:
        yield judged("settings", error, _error)
    if facts.loose is not None:
        yield judged("settings", facts.loose, _loose)
    yield judged("agents", facts.agents, _agents)
    yield judged("sandbox", facts.sandbox, _sandbox)
    if facts.reach is not None:
        yield judged("reach", facts.reach, _reach)
    if facts.gate is not None:
        yield judged("gate", facts.gate, _gate)
    yield judged("tests", facts.tests, partial(_tests, has_commits=facts.git.has_commits))
    yield judged("store", facts.store, _store)
    yield judged("worker", facts.worker, _worker)
    if facts.fleet is not None:
        yield judged("fleet", facts.fleet, _fleet)
    if facts.forge is not None:
        yield judged("forge", facts.forge, _forge)
    for notice in facts.undelivered:
        yield judged("notify", notice, _undelivered)
    if facts.power is not None and facts.power.sleeps:
        yield judged("power", facts.power, _power)
    if facts.clock is not None and _wrong_clock(facts.clock):
        yield judged("clock", facts.clock, _clock)


def _error(error: fact.ErrorFacts, stops: Stops = Stops.RUNS) -> Row:
    return problem(error.what, why=error.why, next_step=error.next_step, stops=stops)


def _loose(loose: fact.LooseFacts) -> Row:
    return note(
        f"others on this machine can read {loose.paths[0]}",
        why="They may hold addresses with logins. The next `asbuilt config set --user` closes them.",
        next_step=f"`chmod go-rwx {' '.join(map(quote, loose.paths))}`",
    )


def _git(git: fact.GitFacts) -> Row:
    if git.version is None:
        return problem(
            "no program git on PATH",
            why="Plans are run in workspaces that git makes, and land as commits.",
            next_step="Install the package git, then: `asbuilt doctor`",
        )
    if git.error is not None:
        is_unborn = git.branch is not None and not git.has_commits
        what = f"{git.error.what}; no commit yet" if is_unborn else git.error.what
        return _error(structs.replace(git.error, what=what))
    if git.repository is None:
        return note("not in a repository; a run needs one", lead=git.version)
    if not git.has_commits:
        return problem(
            f"{git.repository} has no commit yet",
            lead=git.version,
            why="A run starts from a commit, and proves what it adds to it.",
            next_step=f"`{git.first_commit}`",
        )
    changed = f"{counted(git.changed, 'file')} changed (yours; never touched)" if git.changed else "clean"
    parts = [
        git.repository,
        git.branch or "no branch checked out",
        *(f"in the middle of a {operation}" for operation in git.operations),
        changed,
    ]
    if not git.operations and git.branch is not None:
        return good(", ".join(parts), lead=git.version)
    return problem(
        ", ".join(parts),
        lead=git.version,
        why="A run starts from a finished state of the branch that it lands on.",
        next_step="`git status` shows how to continue." if git.operations else "`git switch` to a branch.",
    )


def _agents(agents: fact.AgentsFacts) -> Row:
    found = {agent.name: f"{agent.name} {agent.version or '(it says no version)'}" for agent in agents.found}
    drivable = [words for name, words in found.items() if name in agents.driven]
    others = [words for name, words in found.items() if name not in agents.driven]
    without = [f"{own} found, without its adapter {adapter}" for own, adapter, _ in agents.lacking]
    install = f"`{agents.lacking[0][2]}`" if agents.lacking else ""
    if drivable:
        rest = f"; found and not driven: {listed(others)}" if others else ""
        return good("; ".join([listed(drivable) + rest, *without]), next_step=install)
    here = [f"{listed(others)} found"] if others else []
    what = "; ".join([*here, *without]) or f"none of {', '.join(agents.looked_for)} found"
    return note(f"{what}; only the scripted agent works here", next_step=install)


def _sandbox(sandbox: fact.SandboxFacts) -> Row:
    name = " ".join(part for part in (SANDBOXES[sandbox.level], sandbox.version) if part)
    if sandbox.holds:
        return good(_REFUSED, lead=name)
    causes = "; ".join(refusal.what for refusal in sandbox.refusals)
    holds = f"{name} holds planning commands only" if sandbox.level == "landlock" else ""
    words = "; ".join(part for part in (causes, holds) if part)
    if not sandbox.required:
        why = "sandbox.required is false: agents and checks run unheld, and reports say so."
        return note(words, why=why)
    first = sandbox.refusals[0]
    return problem(
        words,
        why=f"{first.why.removesuffix('.')}. An agent could write to all that you can.",
        next_step=first.next_step if remedy_for(first) is None else _FIX,
        otherwise=_WITHOUT,
        stops=Stops.UNATTENDED,
    )


def _reach(reach: fact.ReachFacts) -> Row:
    several = reach.logins > 1
    words = f"your {counted(reach.logins, 'login')} {'are' if several else 'is'} hidden from agents"
    if reach.readable:
        words = f"an agent can read {reach.readable} of {counted(reach.logins, 'login')} in your home"
    words = words if reach.logins else "no logins in your home"
    is_held = not reach.readable and reach.refuses
    refusal = "a host that is not listed was refused just now" if reach.refuses else "no host was refused"
    networks = (("sandbox.network", reach.network), ("sandbox.setup", reach.setup))
    opened = [key for key, value in networks if value == "open"]
    if not is_held:
        return problem(
            f"{words}; {refusal}",
            why="What an agent can read and reach, it can send away.",
            next_step="`asbuilt doctor bug-report` packs what is needed to find out why.",
        )
    if opened:
        return note(words, why=f"{' and '.join(opened)} open: every host is reached.")
    return good(f"{words}; {refusal}")


def _gate(gate: fact.GateFacts) -> Row:
    if not gate.installed:
        return note("not installed; Claude Code has only its own plan mode", next_step=_INIT)
    if not gate.refused:
        return problem(
            f"installed hook let a known-bad call through: {gate.output}",
            why="Claude Code runs a tool whenever the hook before it fails.",
            next_step=_INIT,
            stops=Stops.NOTHING,
        )
    if gate.version != VERSION:
        return problem(
            f"installed plugin is that of {gate.version or 'no version'}; this is asbuilt {VERSION}",
            why="Hook and commands of two versions may differ in what they keep.",
            next_step=_INIT,
            stops=Stops.NOTHING,
        )
    tried = f"installed hook refused a known-bad call in {round(gate.took_ms)} ms"
    if not gate.enabled:
        return note(f"{tried}, and is not enabled in Claude Code", next_step=_INIT)
    return good(tried)


def _tests(tests: fact.SuiteFacts, *, has_commits: bool) -> Row:
    if tests.several:
        return good(f"from {tests.origin} (each run tries them)", lead=tests.several)
    if not tests.command:
        return note(
            "no command is set; a run looks for one, and asks",
            # Tests are tried on a checkout of a commit.
            next_step="`asbuilt doctor --tests` tries what it finds, and saves your choice." * has_commits,
        )
    if tests.tried is None and tests.absent:
        return Row(
            state=State.NOTE,
            text=f"there is no program {tests.absent} here",
            lead=tests.command,
            why=f"{tests.origin} names it. A setup may install it for the checks.",
            next_step=f"`{TRY_AGAIN}` runs the tests as a run does.",
        )
    if tests.tried is None:
        return good(f"from {tests.origin} (--tests also runs it)", lead=tests.command)
    where = "on a clean checkout"
    if tests.tried.outcome == "PASS":
        failing = f", {tests.tried.failing} failing" if tests.tried.failing else ""
        return Row(
            state=State.NOTE if failing else State.GOOD,
            text=f"{tests.tried.why}{failing} {where}",
            lead=tests.command,
            why=_FAILING[tests.tried.is_red] if failing else "",
        )
    if tests.tried.none_yet:
        return good(f"no tests yet {where}; until a plan adds some, only its checks run", lead=tests.command)
    if tests.tried.missing:
        return problem(
            f"{tests.tried.outcome} {where}: {tests.tried.why}",
            lead=tests.command,
            why=f"The sandbox has no program {tests.tried.missing} that can be started.",
            next_step=as_advice(TRY_AGAIN, comment=f"after you install {tests.tried.missing}"),
        )
    if tests.tried.in_setup:
        named = f": {tests.setup_origin} names it" if tests.setup_origin else " as checks.setup"
        return problem(
            f"{tests.tried.outcome} {where}: {tests.tried.why}",
            lead=tests.command,
            why="The setup comes before the tests; without it none of them ran. Make it pass from a fresh "
            f"clone, or set another{named}.",
            next_step=as_advice(SET_UP),
        )
    return problem(
        f"{tests.tried.outcome} {where}: {tests.tried.why}",
        lead=tests.command,
        why="A run is measured against what the tests show before it; these show nothing. Make the command "
        f"pass from a fresh clone, or set another: {tests.origin} names it.",
        next_step=as_advice('asbuilt config set checks.tests "<command>"'),
    )


def _store(store: fact.StoreFacts) -> Row:
    if store.error is not None:
        return _error(store.error)
    if store.schema is not None and store.schema > store.known_schema:
        return problem(
            f"the journal has schema {store.schema}; this version knows {store.known_schema}",
            why="A newer asbuilt wrote it, and an older one could misread what happened.",
            next_step="Install the newer asbuilt again.",
        )
    room = store.free_bytes
    schema = f"schema {store.schema}" if store.schema else ""
    free = "" if room is None else f"{size(room)} free"
    words = ", ".join(filter(None, (store.database, schema, free)))
    if room is None or room >= _TIGHT:
        return good(words)
    return Row(
        state=State.PROBLEM if room < _FULL else State.NOTE,
        text=words,
        why="Workspaces, outputs and the journal share this disk; a run stops when it is full.",
        next_step="`asbuilt clean --yes`, or set ASBUILT_HOME to a folder on another local disk.",
        stops=Stops.NOTHING,
    )


def _worker(worker: fact.WorkerFacts) -> Row:
    if not worker.running:
        return Row(state=State.IDLE, text="starts with the first run")
    return good("running" if worker.pid is None else f"running, pid {worker.pid}")


def _fleet(fleet: fact.FleetFacts) -> Row:
    if fleet.errors:
        return _error(fleet.errors[0])
    joined = "this machine takes no runs of the fleet"
    if fleet.labels is not None:
        joined = " ".join(("this machine takes runs of the fleet", *fleet.labels))
    large = f"outputs above 256 kB are in {fleet.large or 'the database'}"
    if fleet.has_repository and fleet.remote is None:
        return note(
            f"no remote that other machines reach: runs stay on this machine; {joined}",
            next_step="`git remote add origin URL` with an SSH or HTTPS URL, for runs on other machines.",
        )
    reached = f"{fleet.remote} answers; " if fleet.remote else ""
    return good(f"{reached}{joined}; {large}")


def _forge(forge: fact.ForgeFacts) -> Row:
    if forge.error is None:
        return good(f"signed in to {forge.host}", lead=f"gh {forge.version or ''}".rstrip())
    if not forge.wanted:
        # Landing by pull request is off here, so this is only a note.
        return note(forge.error.what, next_step=forge.error.next_step)
    # A run works without a forge; only its landing waits.
    return _error(forge.error, Stops.NOTHING)


def _undelivered(notice: Undelivered) -> Row:
    return note(
        f"the last notification by {notice.way} was not received: {notice.said}",
        why="Runs continue without it, and wait where they need you.",
        next_step=f"`asbuilt doctor notify {notice.way}` sends a test notification.",
    )


def _power(power: fact.PowerFacts) -> Row:
    then = "runs pause then, and continue afterwards"
    if power.held_by is not None:
        then = f"{power.held_by} keeps it awake while an agent works"
    return note(f"this laptop sleeps when idle; {then}")


_SET_CLOCK: Final = (
    "`sudo sntp -sS time.apple.com`" if sys.platform == "darwin" else "`sudo timedatectl set-ntp true`"
)


def _clock(clock: fact.ClockFacts) -> Row:
    return note(
        _wrong_clock(clock),
        why="Schedules and usage limits end by the clock; durations are measured without it.",
        next_step=_SET_CLOCK,
    )


def _wrong_clock(clock: fact.ClockFacts) -> str:
    if clock.behind_us_s > _CLOCK_OFF_S:
        return f"it says a time {round(clock.behind_us_s)} s before asbuilt was installed"
    if abs(clock.ahead_of_disk_s) > _CLOCK_OFF_S:
        return f"it and the disk differ by {round(abs(clock.ahead_of_disk_s))} s"
    if abs(clock.jumped_s) > 1:
        return f"it jumped by {clock.jumped_s:g} s while we looked"
    return ""
