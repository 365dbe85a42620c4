"""Judge the facts. Pure: facts in, rows out; rows are in the order of a run."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, Final

from asbuilt.cli.commands.doctor.held import gate_row, reach_row, sandbox_row
from asbuilt.cli.commands.doctor.row import Row, State, Stops
from asbuilt.cli.ui.words import counted, listed, size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from asbuilt.cli.commands.doctor.facts import (
        AgentsFacts,
        ClockFacts,
        Facts,
        ForgeFacts,
        GitFacts,
        PowerFacts,
        StoreFacts,
        SuiteFacts,
        Trouble,
        WorkerFacts,
    )
    from asbuilt.journal.notices import Unheard

_TIGHT: Final = 2_000_000_000
_FULL: Final = 200_000_000
_CLOCK_OFF_S: Final = 60


def judge(facts: Facts) -> tuple[Row, ...]:
    """Return a row for every subject with facts."""
    return tuple(_rows(facts))


def conclusion(rows: tuple[Row, ...], facts: Facts) -> str:
    """Summarize all rows in one line."""
    problems = [row for row in rows if row.state is State.PROBLEM]
    if problems:
        return f"{counted(len(problems), 'problem')}. {_effect([row.stops for row in problems])}"
    drivable = [agent.name for agent in facts.agents.found if agent.name in facts.agents.driven]
    return "Ready to be left alone." if drivable else "Ready, with the scripted agent."


def _effect(stops: list[Stops]) -> str:
    if Stops.RUNS in stops:
        return f"Fix {'it' if len(stops) == 1 else 'them'} before you run a plan."
    return "A run asks you first; --auto stops." if Stops.UNATTENDED in stops else "Runs start."


def _rows(facts: Facts) -> Iterator[Row]:
    yield _git(facts.git)
    for trouble in facts.settings:
        yield _trouble("settings", trouble, trouble)
    if facts.loose is not None:
        yield Row(
            name="settings",
            state=State.NOTE,
            said=f"others on this machine can read {facts.loose.paths[0]}",
            why="They may hold addresses with logins. The next `asbuilt config set --user` closes them.",
            next_step=f"`chmod go-rwx {' '.join(map(quote, facts.loose.paths))}`",
            facts=facts.loose,
        )
    yield _agents(facts.agents)
    yield sandbox_row(facts.sandbox)
    if facts.reach is not None:
        yield reach_row(facts.reach)
    if facts.gate is not None:
        yield gate_row(facts.gate)
    yield _tests(facts.tests)
    yield _store(facts.store)
    yield _worker(facts.worker)
    if facts.forge is not None:
        yield _forge(facts.forge)
    for unheard in facts.unheard:
        yield _unheard(unheard)
    if facts.power is not None and facts.power.sleeps:
        yield _power(facts.power)
    if facts.clock is not None and (said := _wrong_clock(facts.clock)):
        yield Row(
            name="clock",
            state=State.NOTE,
            said=said,
            why="Schedules and usage limits end by the clock; durations are measured without it.",
            next_step="Set the clock, or switch on time synchronisation.",
            facts=facts.clock,
        )


def _trouble(name: str, trouble: Trouble, facts: object, stops: Stops = Stops.RUNS) -> Row:
    return Row(
        name=name,
        state=State.PROBLEM,
        said=trouble.what,
        why=trouble.why,
        next_step=trouble.next_step,
        facts=facts,
        stops=stops,
    )


def _git(git: GitFacts) -> Row:
    if git.version is None:
        return Row(
            name="git",
            state=State.PROBLEM,
            said="no program git on PATH",
            why="Plans are run in workspaces that git makes, and land as commits.",
            next_step="Install the package git.",
            facts=git,
        )
    if git.trouble is not None:
        return _trouble("git", git.trouble, git)
    if git.repository is None:
        return Row(
            name="git",
            state=State.NOTE,
            lead=git.version,
            said="not in a repository; a run needs one",
            facts=git,
        )
    if not git.has_commits:
        return Row(
            name="git",
            state=State.PROBLEM,
            lead=git.version,
            said=f"{git.repository} has no commit yet",
            why="A run starts from a commit, and proves what it adds to it.",
            next_step="`git commit` what there is.",
            facts=git,
        )
    changed = f"{counted(git.changed, 'file')} changed (yours; never touched)" if git.changed else "clean"
    parts = [
        git.repository,
        git.branch or "no branch checked out",
        *(f"in the middle of a {operation}" for operation in git.operations),
        changed,
    ]
    if not git.operations and git.branch is not None:
        return Row(name="git", state=State.GOOD, lead=git.version, said=", ".join(parts), facts=git)
    return Row(
        name="git",
        state=State.PROBLEM,
        lead=git.version,
        said=", ".join(parts),
        why="A run starts from a finished state of the branch that it lands on.",
        next_step="`git status` shows how to go on." if git.operations else "`git switch` to a branch.",
        facts=git,
    )


def _agents(agents: AgentsFacts) -> Row:
    found = {one.name: f"{one.name} {one.version or '(it says no version)'}" for one in agents.found}
    drivable = [words for name, words in found.items() if name in agents.driven]
    others = [words for name, words in found.items() if name not in agents.driven]
    without = [f"{own} found, without its adapter {adapter}" for own, adapter, _ in agents.lacking]
    install = f"`{agents.lacking[0][2]}`" if agents.lacking else ""
    if drivable:
        rest = f"; found and not driven: {listed(others)}" if others else ""
        said = "; ".join([listed(drivable) + rest, *without])
        return Row(name="agents", state=State.GOOD, said=said, next_step=install, facts=agents)
    here = [f"{listed(others)} found"] if others else []
    what = "; ".join([*here, *without]) or f"none of {', '.join(agents.looked_for)} found"
    return Row(
        name="agents",
        state=State.NOTE,
        said=f"{what}; only the scripted agent works here",
        next_step=install,
        facts=agents,
    )


def _tests(tests: SuiteFacts) -> Row:
    if not tests.command:
        return Row(
            name="tests",
            state=State.NOTE,
            said="no command is set; a run looks for one, and asks",
            next_step="`asbuilt doctor --tests` tries what it finds, and saves your choice.",
            facts=tests,
        )
    if tests.tried is None:
        said = f"from {tests.origin} (--tests also runs it)"
        return Row(name="tests", state=State.GOOD, lead=tests.command, said=said, facts=tests)
    where = "on a clean checkout"
    if tests.tried.outcome == "PASS":
        failing = f", {tests.tried.failing} failing" if tests.tried.failing else ""
        return Row(
            name="tests",
            state=State.NOTE if failing else State.GOOD,
            lead=tests.command,
            said=f"{tests.tried.why}{failing} {where}",
            why="What fails before a run is noted, and does not stop it." if failing else "",
            facts=tests,
        )
    return Row(
        name="tests",
        state=State.PROBLEM,
        lead=tests.command,
        said=f"{tests.tried.outcome} {where}: {tests.tried.why}",
        why="A run is measured against what the tests show before it; these show nothing.",
        next_step=f"Make it pass from a fresh clone, or set another: {tests.origin} names it.",
        facts=tests,
    )


def _store(store: StoreFacts) -> Row:
    if store.trouble is not None:
        return _trouble("store", store.trouble, store)
    if store.schema is not None and store.schema > store.known_schema:
        return Row(
            name="store",
            state=State.PROBLEM,
            said=f"the journal has schema {store.schema}; this version knows {store.known_schema}",
            why="A newer asbuilt wrote it, and an older one could misread what happened.",
            next_step="Install the newer asbuilt again.",
            facts=store,
        )
    parts = [
        store.database,
        *([f"schema {store.schema}"] if store.schema else []),
        *([] if store.free_bytes is None else [f"{size(store.free_bytes)} free"]),
    ]
    said = ", ".join(parts)
    room = store.free_bytes
    if room is None or room >= _TIGHT:
        return Row(name="store", state=State.GOOD, said=said, facts=store)
    return Row(
        name="store",
        state=State.PROBLEM if room < _FULL else State.NOTE,
        said=said,
        why="Workspaces, outputs and the journal share this disk; a run stops when it is full.",
        next_step="Make room, or set ASBUILT_HOME to a folder on another local disk.",
        facts=store,
        stops=Stops.NOTHING,
    )


def _worker(worker: WorkerFacts) -> Row:
    if not worker.running:
        return Row(name="worker", state=State.IDLE, said="starts with the first run", facts=worker)
    said = "running" if worker.pid is None else f"running, pid {worker.pid}"
    return Row(name="worker", state=State.GOOD, said=said, facts=worker)


def _forge(forge: ForgeFacts) -> Row:
    lead = f"gh {forge.version}" if forge.version else ""
    if forge.trouble is None:
        said = f"signed in to {forge.host}"
        return Row(name="forge", state=State.GOOD, lead=lead or "gh", said=said, facts=forge)
    if not forge.wanted:
        # Landing by pull request is off here, so this is only a note.
        return Row(
            name="forge",
            state=State.NOTE,
            said=forge.trouble.what,
            next_step=forge.trouble.next_step,
            facts=forge,
        )
    # A run works without a forge; only its landing waits.
    return _trouble("forge", forge.trouble, forge, Stops.NOTHING)


def _unheard(unheard: Unheard) -> Row:
    return Row(
        name="notify",
        state=State.NOTE,
        said=f"{unheard.way} was last not heard: {unheard.said}",
        why="A run goes on without it, and waits where it needs you.",
        next_step=f"`asbuilt notify test {unheard.way}` sends a message by it.",
        facts=unheard,
    )


def _power(power: PowerFacts) -> Row:
    then = "a run pauses then, and goes on after"
    if power.held_by is not None:
        then = f"{power.held_by} keeps it awake while an agent works"
    said = f"this laptop sleeps when idle; {then}"
    return Row(name="power", state=State.NOTE, said=said, facts=power)


def _wrong_clock(clock: ClockFacts) -> str:
    if clock.behind_us_s > _CLOCK_OFF_S:
        return f"it says a time {round(clock.behind_us_s)} s before asbuilt was installed"
    if abs(clock.ahead_of_disk_s) > _CLOCK_OFF_S:
        return f"it and the disk differ by {round(abs(clock.ahead_of_disk_s))} s"
    if abs(clock.jumped_s) > 1:
        return f"it jumped by {clock.jumped_s:g} s while we looked"
    return ""
