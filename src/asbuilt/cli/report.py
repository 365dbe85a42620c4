"""`asbuilt report`: what a run promised, what is proven of it, and what to know. It writes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from asbuilt.cli.clock import at, lasting, parsed, stamp
from asbuilt.cli.commands import Command
from asbuilt.cli.looking import complete_address, look, look_for
from asbuilt.cli.options import Door, shared
from asbuilt.cli.screen import printable
from asbuilt.cli.status import views_here
from asbuilt.cli.talking import answer, headline, next_command
from asbuilt.cli.words import counted
from asbuilt.errors import DONE, NotFound
from asbuilt.flows.record import Record
from asbuilt.flows.reporting import account_of
from asbuilt.journal.events import keyed
from asbuilt.journal.views import facts_of

if TYPE_CHECKING:
    from asbuilt.cli.looking import Looking
    from asbuilt.journal.runs import Run
    from asbuilt.lifecycle.facts import RunFacts
    from asbuilt.lifecycle.report import Account, AttemptAccount, PhaseAccount


_WITH_A_TREE: Final = ("done", "limited", "not ended")


class Sums(NamedTuple):
    """What was promised and what came of it, counted."""

    items: int
    checks: int
    items_proven: int
    checks_passed: int
    not_run: int


@click.command(
    "report",
    cls=Command,
    examples=[
        ("asbuilt report", "the newest run here"),
        ("asbuilt report rate-limit", "the newest run of a plan"),
        ("asbuilt report rate-limit.1 --markdown", "the whole account, for a file or a pull request"),
    ],
)
@click.argument("plan", required=False, shell_complete=complete_address)
@click.option("--markdown", is_flag=True, help="the whole account as Markdown")
@shared(json=True)
def command(door: Door, plan: str | None, *, markdown: bool) -> int:
    """Show what a run promised, what asbuilt has proven of it, and what to know before you trust it."""
    looking, run = _found(door, plan)
    record = Record(run=run, store=looking.journal.store, blobs=looking.journal.blobs)
    with looking.journal.store.read() as session:
        facts = facts_of(session, looking.journal.blobs, run)
        written = keyed(session, run.address, f"{run.run}/report/end")
    if markdown:
        if written is None:
            raise NotFound(
                f"{run.options['slug']}.{run.number} has no report yet",
                why="The account of a run is written when it ends.",
                next_step=f"`asbuilt status {run.options['slug']}`",
            )
        text = looking.journal.blobs.get(written.data["report"]).decode("utf-8", "replace")
        for line in printable(text, lines=True).removesuffix("\n").split("\n"):
            door.screen.answer(line)
        return DONE
    folder = looking.journal.home.workspaces / run.repo / run.run
    account = account_of(record, facts, folder, "")
    if door.json:
        door.screen.emit_json({"schema": "asbuilt.report/1", **_json(run, facts, account)})
    else:
        _show(door, looking, run, facts, account)
    return DONE


def _found(door: Door, plan: str | None) -> tuple[Looking, Run]:
    if plan is not None:
        looking = look_for(door, plan)
        return looking, looking.run(plan)
    _, here = look(door)
    newest = [view.run for view in views_here(here) if view.run is not None] if here is not None else []
    if here is None or not newest:
        raise NotFound(
            "nothing has been run here",
            why="A report is about a run.",
            next_step="`asbuilt plan list` shows what could be.",
        )
    return here, newest[0].run


def sums(account: Account) -> Sums:
    """Count what was promised and what is proven: an item by its phase's proof, a check by what we ran."""
    items = checks = proven = passed = not_run = 0
    for phase in account.phases:
        judged = _judged(phase)
        items += len(phase.promised)
        proven += len(phase.promised) if phase.proven else 0
        evidence = judged.evidence if judged else ()
        checks += len(evidence)
        passed += sum(one.outcome == "PASS" for one in evidence)
        not_run += sum(one.outcome == "NOT_RUN" for one in evidence)
        not_run += sum(one.outcome == "NOT_RUN" for one in (judged.items if judged else ()))
    return Sums(items, checks, proven, passed, not_run)


def _judged(phase: PhaseAccount) -> AttemptAccount | None:
    return next((attempt for attempt in reversed(phase.attempts) if attempt.evidence), None)


def notes(account: Account) -> list[tuple[str, str]]:
    """Say what to know of each phase: what had to be mended, begun anew, or was never proven."""
    told: list[tuple[str, str]] = []
    for phase in reversed(account.phases):
        fixes = [attempt for attempt in phase.attempts if attempt.role == "fix"]
        again = [attempt for attempt in phase.attempts if attempt.ending not in _WITH_A_TREE]
        if fixes:
            told.append((phase.id, f"{counted(len(fixes), 'fix', 'fixes')}: {_first_failure(phase)}"))
        if again:
            told.append((phase.id, f"begun anew: {again[0].ending}, {again[0].reason}"))
        if phase.proven is None:
            told.append((phase.id, f"not proven: {_first_failure(phase) or account.reason}"))
    return told


def _first_failure(phase: PhaseAccount) -> str:
    for attempt in phase.attempts:
        for check in attempt.evidence:
            if check.outcome != "PASS":
                return f"{check.name}: {check.outcome}, {check.why}"
        for item in attempt.items:
            if item.outcome != "PASS":
                return f"item {item.item}, {item.text}: {item.outcome}, {item.why}"
    return ""


def _show(door: Door, looking: Looking, run: Run, facts: RunFacts, account: Account) -> None:
    pen, now = door.screen.out, looking.moment.now
    ended = f" {at(run.ended_at, now)}" if run.ended_at else ""
    where = f" on {account.target}" if run.state == "landed" else ""
    took = lasting((parsed(run.ended_at or now.isoformat()) - parsed(run.at)).total_seconds())
    cost = f", ${facts.cost_usd:.2f} at API prices" if facts.cost_usd else ""
    headline(door, account.name, f"{run.state}{where}{ended}, {took}{cost}")
    total = sums(account)
    answer(
        door,
        "",
        f"Promised {counted(total.items, 'item')}, {counted(total.checks, 'check')}. Proven"
        f" {total.items_proven}, {total.checks_passed}. Not run {total.not_run}.",
    )
    if run.state == "failed":
        answer(door, f"{pen.symbols.failed} ", account.reason)
    for phase, text in notes(account):
        answer(door, f"{pen.symbols.note} ", f"phase {phase}: {text}", under=4)
    next_command(door, f"asbuilt report {account.name} --markdown")


def _json(run: Run, facts: RunFacts, account: Account) -> dict[str, Any]:
    return {
        "run": account.name,
        "plan": account.plan,
        "state": run.state,
        "at": stamp(run.at),
        "ended_at": stamp(run.ended_at) if run.ended_at else None,
        "reason": account.reason,
        **sums(account)._asdict(),
        "notes": [{"phase": phase, "text": text} for phase, text in notes(account)],
        "cost": {"usd": round(facts.cost_usd, 4)},
    }
