"""`asbuilt claim`: show and change who owns a plan. Scripts rely on its exit codes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import wraps
from typing import Final

import click

from asbuilt.cli.shell.lazy import Lazy, LazyGroup
from asbuilt.cli.shell.options import Door, subcommand
from asbuilt.cli.shell.plan_context import complete_plan
from asbuilt.cli.shell.run_context import asker, look_at, open_site, site_of
from asbuilt.cli.ui.clock import ago, stamp
from asbuilt.cli.ui.screen import printable
from asbuilt.errors import DONE, StoreFailed
from asbuilt.flows.requests import take_away
from asbuilt.journal import claims, issue_claims, runs
from asbuilt.journal.claims import Claim
from asbuilt.journal.events import open_plan
from asbuilt.journal.home import machine
from asbuilt.journal.ids import LOCAL, Address
from asbuilt.journal.issue_claims import Held

_STORE: Final = 11

group = LazyGroup(
    "claim",
    commands={
        "list": Lazy("claim:list_", "who owns which plan here"),
        "acquire": Lazy("claim:acquire", "own a plan, for a program of yours"),
        "release": Lazy("claim:release", "release a claim"),
        "break": Lazy("claim:break_", "take a plan away from its owner, with a reason"),
    },
    examples=[
        ("asbuilt claim list", "who owns what, and since when"),
        ("asbuilt claim acquire rate-limit --owner me", "exit 0: yours; 10: another owner's"),
        ('asbuilt claim break rate-limit --reason "its machine is gone"', "recorded with your name"),
    ],
    help=(
        "One run owns a plan at a time. Claims do not expire; they end when their owner lets go or a person"
        " breaks them.\n\nExit codes: 0 yours or released, 10 held by another, 11 the store failed, 12 not"
        " yours to release, 2 usage."
    ),
)


@subcommand("list", ("asbuilt claim list --json", "for a script"))
def list_(door: Door) -> int:
    """Show who owns which plan of this repository, and which plan has which issue."""
    _, site = look_at(door)
    rows: list[tuple[Claim, str]] = []
    about: list[Held] = []
    if site is not None:
        with site.journal.store.read() as session:
            rows = [
                (claim, runs.name_of(session, LOCAL, site.repo, claim.run))
                for claim in claims.every(session, LOCAL, site.repo)
            ]
            about = issue_claims.every(session, LOCAL, site.repo)
    held = [{**claim._asdict(), "since": stamp(claim.since), "owner": owner} for claim, owner in rows]
    issue_data = [{**holder._asdict(), "since": stamp(holder.since)} for holder in about]
    if door.emitted("asbuilt.claims/1", {"claims": held, "issues": issue_data}):
        return DONE
    if not rows:
        door.screen.answer("No plan is claimed here.")
    now = datetime.now(UTC)
    for claim, owner in rows:
        phase = f", phase {claim.phase}" if claim.phase else ""
        door.screen.answer(
            printable(
                f"{claim.plan}   {owner} ({claim.mode}{phase}), {ago(claim.since, now)}, on {claim.host}"
            )
        )
    for issue in about:
        door.screen.answer(printable(f"issue #{issue.number}   {issue.plan}, {ago(issue.since, now)}"))
    return DONE


class ClaimsUnknown(StoreFailed):
    """The journal of the claims cannot be read or written; the exit code is that of the contract."""

    exit_code = _STORE


def _by_contract(command: Callable[..., int]) -> Callable[..., int]:
    """Make a command return 11 if the store fails, also on opening."""

    @wraps(command)
    def held(door: Door, **given: str) -> int:
        try:
            return command(door, **given)
        except StoreFailed as error:
            raise ClaimsUnknown(error.what, why=error.why, next_step=error.next_step) from error

    return held


def _report(door: Door, address: Address, code: int, words: str) -> int:
    if not door.emitted("asbuilt.claim/1", {"plan": address.plan, "said": words, "exit": code}):
        door.screen.answer(printable(words))
    return code


@subcommand("acquire", ("asbuilt claim acquire rate-limit --owner nightly", "0 or 10"))
@click.argument("plan", shell_complete=complete_plan)
@click.option("--owner", required=True, metavar="NAME", help="who is to own it; the same name may again")
@_by_contract
def acquire(door: Door, plan: str, *, owner: str) -> int:
    """Own a plan, so that no run of it starts."""
    site = open_site(door)
    at = site.desk.open(plan).at
    address = site.address(at.shown)
    actor = asker(door).actor
    with site.journal.store.write() as session:
        open_plan(session, address, at.slug)
        taken = claims.acquire(session, address, run=owner, mode=claims.OWNER, host=machine(), actor=actor)
        holder = runs.name_of(session, LOCAL, site.repo, taken.claim.run)
    if taken.answer is claims.Answer.YOURS:
        return _report(door, address, DONE, f"{at.slug} is claimed by {owner}.")
    return _report(door, address, int(taken.answer), f"{at.slug} is held by {holder}.")


@subcommand("release", ("asbuilt claim release rate-limit --owner nightly", "0 or 12"))
@click.argument("plan", shell_complete=complete_plan)
@click.option("--owner", required=True, metavar="NAME", help="the name it was claimed with")
@_by_contract
def release(door: Door, plan: str, *, owner: str) -> int:
    """Release a plan. A claim of another run stays."""
    site = site_of(door, plan)
    address = site.address(plan)
    with site.journal.store.write() as session:
        outcome = claims.release(session, address, run=owner, actor=asker(door).actor)
    if outcome is claims.Answer.YOURS:
        return _report(door, address, DONE, f"{address.plan} is released.")
    return _report(
        door, address, int(outcome), f"{address.plan} is not claimed by {owner}; nothing was released."
    )


@subcommand(
    "break", ('asbuilt claim break rate-limit --reason "its machine is gone"', "recorded with your name")
)
@click.argument("plan", shell_complete=complete_plan)
@click.option("--reason", required=True, metavar="TEXT", help="why, for the journal")
@_by_contract
def break_(door: Door, plan: str, *, reason: str) -> int:
    """Take a plan away from its owner. A run that had it ends at its next safe point, its work kept."""
    site = site_of(door, plan)
    address = site.address(plan)
    with site.journal.store.write() as session:
        held = take_away(session, address, reason=reason, asker=asker(door))
    words = f"is taken from {held.run}; the journal says why" if held else "is not claimed"
    return _report(door, address, DONE, f"{address.plan} {words}.")
