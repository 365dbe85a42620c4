"""Build the brief of an attempt, and choose its agent.

Rule: a run's options apply as chosen at its start, whatever the settings are now.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import structs

from asbuilt.events.runs import RunStarted
from asbuilt.lifecycle.run.money import left_s
from asbuilt.lifecycle.run.stoppages import allowed
from asbuilt.lifecycle.run.team import agent_of
from asbuilt.lifecycle.status.health import OVERALL_S
from asbuilt.ports import Brief, Opened, Program

if TYPE_CHECKING:
    from asbuilt.events.options import RunOptions
    from asbuilt.flows.run.record import Record
    from asbuilt.flows.verification.subject import Matter
    from asbuilt.lifecycle.run.facts import RunFacts
    from asbuilt.ports import Role, Workspace

_LEAST_S: Final = 60
"""Least seconds of an attempt, however little time is left."""
_LEAST_USD: Final = 0.01


def program_of(options: RunOptions, role: str) -> Program:
    """Return how the agent of a role is started."""
    member = options.agents.get(role)
    return Program() if member is None else Program(**structs.asdict(member.program))


def opened(options: RunOptions) -> Opened:
    """Return what a run's settings open in the sandbox of an agent; runs of older versions open the list."""
    chosen = options.sandbox
    return Opened(network=chosen.network or "list", hosts=chosen.hosts or (), readable=chosen.readable or ())


def opened_for_setup(options: RunOptions) -> Opened:
    """Return what a run's settings open in the sandbox of a setup."""
    return replace(opened(options), network=options.sandbox.setup or "list")


def brief_for(
    record: Record,
    matter: Matter,
    workspace: Workspace,
    facts: RunFacts,
    *,
    attempt: str,
    role: Role,
) -> Brief:
    """Return the brief of one attempt; its budget is what the run has left."""
    run = record.run
    script = run.options.script
    return Brief(
        attempt=attempt,
        role=role,
        agent=agent_of(run.options, role),
        program=within(program_of(run.options, role), facts),
        workspace=workspace.path,
        writable=role != "verify",
        phase=matter.id,
        title=matter.title,
        text=matter.text,
        intent=matter.intent,
        items=tuple(promise.text for promise in matter.promises),
        tests=_tests(record),
        overall_s=overall_s(record, facts),
        script=Path(script) if script else None,
        protected=(Path(run.plan),) if run.is_in_repository else (),
        # A run that started in a sandbox requires it to the end; a start without one was agreed to.
        ring_required=record.told(RunStarted, "started").ring != "none",
        opened=opened(run.options),
    )


def _tests(record: Record) -> str | None:
    """Return the test commands, with a note on variables and services that only asbuilt's checks have."""
    commands = [suite.shown for suite in record.suites().values()]
    options = record.run.options
    variables = options.env.checks or () if options.env else ()
    beside = [*(one.name for one in options.services or ()), *variables]
    if commands and beside:
        commands.append(f"# only asbuilt's own checks have {', '.join(beside)}: tests that need it fail here")
    return "\n".join(commands) or None


def within(program: Program, facts: RunFacts, *, share: int = 1) -> Program:
    """Limit an attempt's dollars to what its run has left, or to a share of it if several agents work."""
    cap = allowed(facts).usd
    if cap is None:
        return program
    left = max(_LEAST_USD, round((cap - facts.spent.usd) / share, 4))
    return replace(program, budget_usd=min(left, program.budget_usd or left))


def overall_s(record: Record, facts: RunFacts) -> int:
    """Return the seconds of an attempt: at most what its run has left."""
    with record.store.read() as session:
        left = left_s(allowed(facts), facts.time.worked_s(session.now))
    return OVERALL_S if left is None else min(OVERALL_S, max(_LEAST_S, left))
