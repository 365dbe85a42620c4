"""Author a plan: agents in a read-only workspace, stages that code judges, and a file after approval.

Rule: each move first checks whether it is done. An agent's output is kept before it is judged.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from asbuilt.errors import GitFailed, NotLanded
from asbuilt.events.options import value_or
from asbuilt.events.plans import DraftSetup
from asbuilt.events.questions import SandboxKey
from asbuilt.events.runs import RunStarted
from asbuilt.flows.authoring.conversation import asked_of, take_over
from asbuilt.flows.authoring.staging import Staging, files_of
from asbuilt.flows.checks.dry_run import Trying
from asbuilt.flows.checks.outside_changes import need_unchanged
from asbuilt.flows.checks.prove import tree_of
from asbuilt.flows.environments.check_environment import CheckEnvironments
from asbuilt.flows.run.approval import file_approved
from asbuilt.flows.run.briefs import planner_brief
from asbuilt.flows.run.environment import given_in, kept
from asbuilt.flows.run.record import Record, append_event
from asbuilt.flows.run_start import claim, is_agreed
from asbuilt.git.repository import Repository, base_on
from asbuilt.git.workspace import workspaces
from asbuilt.lifecycle import approval
from asbuilt.lifecycle.approval import next_step
from asbuilt.lifecycle.authoring.facts import AuthoringFacts, names_of, title_of
from asbuilt.lifecycle.run import moves
from asbuilt.plan.model import Plan
from asbuilt.ports import Brief
from asbuilt.proof.checks_before_work import Tried

if TYPE_CHECKING:
    from asbuilt.flows.attempts.work import Working
    from asbuilt.flows.context import Context
    from asbuilt.journal.home import Home
    from asbuilt.policy.roles import Role

_LANE: Final = "plan"
_SHOWN: Final = 200
_FIELDS: Final = (
    "how it is built and where the change belongs",
    "how it is tested, configured and shipped",
    "who calls it, and what would break",
    "what was tried before, and what is like it elsewhere in the code",
    "the data: what is stored, in which form, and who reads it",
    "errors: what can fail, and what the user sees then",
    "the interface: what users and other programs depend on",
    "speed and size: what is slow, and what grows",
    "security: what is trusted, and what is checked",
    "documentation and names: what readers expect to find",
)
_BENTS: Final = (
    "the smallest change that does it",
    "the change that is easiest to live with afterwards",
    "the change that is safest to make step by step",
    "the change that a newcomer to the code would understand first",
    "the change that reuses the most of what exists",
    "the change that can be undone most easily",
    "the change that is easiest to test",
    "the change that users notice first",
    "the change that fails most visibly when it is wrong",
    "the change that leaves the fewest special cases",
)


def sketch_file(home: Home, run: str) -> Path:
    """Return the file of the plan so far, which an interview grows. The approved plan is another file."""
    return home.runs / run / "plan.md"


def perform(context: Context, working: Working, facts: AuthoringFacts, move: moves.Move) -> None:
    """Perform one move of an authoring."""
    match move:
        case moves.Start():
            _start(context.record, context.repository, context.processes.level)
        case moves.Attempt():
            _attempt(context, working, facts, move)
        case moves.Judge(stage=stage, number=number):
            _staging(context, facts).judge(stage, number)
        case moves.Draft():
            _staging(context, facts).write(partial(_tried, context, facts))
        case moves.File():
            _file(context, facts)
        case _:
            raise ValueError(move)


def _start(record: Record, repository: Repository, level: str) -> None:
    base = base_on(repository, record.run.options.branch)
    claim(record)
    names = names_of(Staging.begun(record).options.stages)
    outline = {"phases": dict.fromkeys(names, ()), "titles": {name: title_of(name) for name in names}}
    agreed = is_agreed(record, SandboxKey())
    kept = record.blobs.put_json(outline)
    with record.store.write() as session:
        started = RunStarted(base=base, ring=level, ring_agreed=agreed, due=names[0], outline=kept)
        append_event(session, record.run, started, "started")
        take_over(session, record)


def _tried(context: Context, facts: AuthoringFacts, plan: Plan) -> list[Tried] | None:
    """Dry-run the checks of a draft on the base; None if the sandbox is unavailable."""
    record, repository, level = context.record, context.repository, context.processes.level
    if level == "none":
        return None
    options = record.run.options
    environments = CheckEnvironments(
        context.home.path / "setups" / record.run.repo,
        repository,
        context.processes,
        environment=kept(context.room),
        history=facts.base or "",
        given=given_in(context.room, options),
        announce=lambda command: record.append(DraftSetup(command=command[:_SHOWN]), "draft/setup"),
    )
    trying = Trying(repository, environments, tree_of(repository, facts.base or ""), level)
    return trying.tried(plan, setup=value_or(options.setup, None))


def _file(context: Context, facts: AuthoringFacts) -> None:
    record, step = context.record, next_step(facts.draft.texts)
    if not isinstance(step, approval.File):
        raise TypeError(f"{record.run.run} has nothing to file: {type(step).__name__}")
    record.hold()
    # No agent reads there any more. If the removal fails, `clean` reports it later.
    with suppress(NotLanded, GitFailed):
        workspaces.remove(context.repository, context.workspace(_LANE, facts.base or ""))
    file_approved(record, step.approved)


def _staging(context: Context, facts: AuthoringFacts) -> Staging:
    files = files_of(context.repository, facts.base or "")
    return Staging(context.record, facts, files, file=sketch_file(context.home, context.record.run.run))


def _attempt(context: Context, working: Working, facts: AuthoringFacts, move: moves.Attempt) -> None:
    """Run the agent of the stage that is due, or several in parallel if so chosen."""
    record, staging = context.record, _staging(context, facts)
    workspace = context.workspace(_LANE, facts.base or "")
    ask, parts = asked_of(record, staging)
    leans = staging.leans(_FIELDS, _BENTS)
    role: Role = "critique" if move.role == "critique" else "plan"
    brief = planner_brief(
        record,
        workspace,
        facts,
        attempt=f"{record.run.run}.{move.phase}.{move.number}",
        role=role,
        phase=move.phase,
        title=title_of(move.phase),
        ask=ask,
        context=parts,
        agents=max(1, len(leans)),
    )
    briefs = [_one_of(brief, at, lean) for at, lean in enumerate(leans, 1)] or [brief]
    working.converse(record, facts, move, briefs)
    # In a sandbox, the kernel keeps the workspace unchanged.
    if not brief.ring_required:
        need_unchanged(context.repository, workspace, facts.base or "")


def _one_of(brief: Brief, at: int, lean: str) -> Brief:
    """Give one of several parallel agents its own address and focus."""
    phase = brief.phase if at == 1 else f"{brief.phase}-{at}"
    run, _, number = brief.attempt.rpartition(f".{brief.phase}.")
    attempt = f"{run}.{phase}.{number}"
    return replace(
        brief, attempt=attempt, phase=phase, ask=f"{brief.ask}\n\nOf several who do this, you: {lean}."
    )
