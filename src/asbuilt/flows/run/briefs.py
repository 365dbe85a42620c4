"""Build the brief of an attempt, and choose its agent. Rule: options apply as chosen at its start."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from asbuilt.agents.sandbox import drive
from asbuilt.events.options import AgentProgram, RunOptions
from asbuilt.events.runs import RunStarted
from asbuilt.lifecycle.limits import OVERALL_S
from asbuilt.lifecycle.plan_run.doubts_before_work import independent_groups
from asbuilt.lifecycle.run.facts import RunFacts
from asbuilt.lifecycle.run.money import left_s
from asbuilt.lifecycle.run.stoppages import allowed
from asbuilt.policy.sandbox.services import chosen_services
from asbuilt.ports import JUDGES, Brief, Opened, Workspace

if TYPE_CHECKING:
    from asbuilt.flows.run.record import Record
    from asbuilt.flows.verification.judge import Subject
    from asbuilt.policy.roles import Role

_LEAST_S: Final = 60
"""Least seconds of an attempt, however little time is left."""
_LEAST_USD: Final = 0.01
_DRIVE: Final = "The interface is a {kind}. Drive it with: {command} {kind} TARGET STEP..."


def program_of(options: RunOptions, role: str) -> AgentProgram:
    """Return how the agent of a role is started."""
    member = options.agents.get(role)
    return AgentProgram() if member is None else member.program


def opened(options: RunOptions) -> Opened:
    """Return what a run's settings open in the sandbox of an agent; runs of older versions open the list."""
    chosen = options.sandbox
    return Opened(network=chosen.network or "list", hosts=chosen.hosts or (), readable=chosen.readable or ())


def opened_for_setup(options: RunOptions) -> Opened:
    """Return what a run's settings open in the sandbox of a setup."""
    return replace(opened(options), network=options.sandbox.setup or "list")


def planner_brief(  # noqa: PLR0913 - a planner has these parts
    record: Record,
    workspace: Workspace,
    facts: RunFacts,
    *,
    attempt: str,
    role: Role,
    phase: str,
    title: str,
    ask: str = "",
    context: tuple[tuple[str, str], ...] = (),
    agents: int = 1,
) -> Brief:
    """Return the brief of an agent that only reads; `agents` share what the run has left."""
    options = record.run.options
    return Brief(
        attempt=attempt,
        role=role,
        agent=options.agent_of(role),
        program=within(program_of(options, role), facts, share=agents),
        workspace=workspace.path,
        writable=False,
        phase=phase,
        title=title,
        ask=ask,
        told=context,
        overall_s=overall_s(record, facts),
        script=Path(options.script) if options.script else None,
        # A run that started in a sandbox requires it to the end; a start without one was agreed to.
        ring_required=record.event(RunStarted, "started").ring != "none",
        opened=opened(options),
    )


def brief_for(
    record: Record, subject: Subject, workspace: Workspace, facts: RunFacts, *, attempt: str, role: Role
) -> Brief:
    """Return the brief of one attempt; its budget is what the run has left."""
    run, blocks = record.run, _groups(subject) if role == "implement" else ()
    brief = planner_brief(
        record,
        workspace,
        facts,
        attempt=attempt,
        role=role,
        phase=subject.id,
        title=subject.title,
        context=blocks,
    )
    return replace(
        brief,
        writable=role not in JUDGES,
        text=subject.text,
        intent=subject.intent,
        items=tuple(promise.text for promise in subject.promises),
        tests=_tests(record),
        protected=(Path(run.plan),) if run.is_in_repository else (),
        **(driving(run.options) if role == "test" else {}),
    )


def _tests(record: Record) -> str | None:
    """Return the test commands, with a note on variables and services that only asbuilt's checks have."""
    commands = [suite.shown for suite in record.suites().values()]
    options = record.run.options
    variables = options.env.checks or () if options.env else ()
    beside = [*(service.name for service in options.services or ()), *variables]
    if commands and beside:
        commands.append(f"# only asbuilt's own checks have {', '.join(beside)}: tests that need it fail here")
    return "\n".join(commands) or None


def _groups(subject: Subject) -> tuple[tuple[str, str], ...]:
    """Name the groups of work items that subagents may work on in parallel, if there are several."""
    groups = independent_groups(promise.text for promise in subject.promises if not promise.is_criterion)
    lines = "\n".join(", ".join(map(str, group)) for group in groups)
    return (("groups", lines),) if len(groups) > 1 else ()


def driving(options: RunOptions) -> dict[str, Any]:
    """Return what a tester's brief has beside a verifier's: how to drive the interface, and its services.

    A service that needs data of its own, as a database does, runs only when asbuilt repeats the tries.
    """
    services = tuple(
        (service.name, service.argv, service.port) for service in chosen_services(options) if not service.make
    )
    ports = "".join(
        f"\n- the service {name} answers at http://127.0.0.1:{port}/" for name, _, port in services
    )
    return {"services": services, "ask": _DRIVE.format(command=drive_command(), kind=options.tester) + ports}


def drive_command() -> str:
    """Return the command that drives an interface, inside any sandbox."""
    return shlex.join((sys.executable, "-I", "-S", drive.__file__))


def within(program: AgentProgram, facts: RunFacts, *, share: int = 1) -> AgentProgram:
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
