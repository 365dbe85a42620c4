"""A draft that waits for approval, on one screen and as JSON. Read-only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from asbuilt.cli.runs.costs import expected_by
from asbuilt.cli.runs.run_terms import UNNAMED, terms_of, with_team
from asbuilt.cli.shell.options import Door
from asbuilt.cli.ui.columns import pad, shorten
from asbuilt.cli.ui.screen import Pen, printable
from asbuilt.cli.ui.words import counted
from asbuilt.errors import AsbuiltError
from asbuilt.events.options import RunOptions
from asbuilt.flows.authoring.refinement import Draft, draft_asked
from asbuilt.journal.approvals import Approval
from asbuilt.journal.drafts import drafts_of
from asbuilt.journal.ids import LOCAL, Address
from asbuilt.journal.queries.spending import past_of
from asbuilt.pages.drafts import Change, Row, changes, summary_of
from asbuilt.plan.model import Plan
from asbuilt.plan.reader import read
from asbuilt.proof.checks_before_work import trial_summary
from asbuilt.proof.projects.dependencies import allowances_in
from asbuilt.settings.running import chosen_for_runs

if TYPE_CHECKING:
    from asbuilt.cli.shell.run_context import Site

_PROSE: Final = 3
"""Rows of a goal, or of what a plan excludes."""
_PHASES: Final = 12
_CHANGES: Final = 10


def draft_of(site: Site, asked: Approval) -> Draft:
    """Find the text that a question is about, and its changes."""
    return draft_asked(site.journal.store, site.journal.blobs, site.repo, asked)


def difference(site: Site, address: Address, plan: Plan, pen: Pen) -> list[str]:
    """Draw the changes of a plan since its last approved text."""
    with site.journal.store.read() as session:
        approved = drafts_of(session, address).approved[-1]
    before = read(site.journal.blobs.get(approved.text))
    return change_rows(pen, changes(before, plan))


def change_rows(pen: Pen, found: Sequence[Change], *, most: int = _CHANGES) -> list[str]:
    """Draw the changed lines, at most `most` of them."""
    rows = [shorten(f"  {file.sign} {printable(file.text)}", pen.width, pen.symbols) for file in found[:most]]
    left = len(found) - most
    return rows + ([f"  {pen.symbols.ellipsis} and {counted(left, 'line')} more"] if left > 0 else [])


def screen_of(door: Door, site: Site, asked: Approval, draft: Draft, pen: Pen) -> list[str]:
    """Draw a draft on one screen: goal, phases, terms and changes."""
    summary = summary_of(draft.plan)
    lead = pen.bold(slug_of(asked))
    lead = f"Approve {lead}?" if asked.answer is None else lead
    rows = [f"{lead}   {site.lead}{asked.name}   {draft.name}, {pen.dim(draft.brief)}"]
    if draft.is_again and asked.answer is None:
        rows += _prose(pen, "", "It was declined without a reason. Give one with -m if you decline it again.")
    rows += _prose(pen, "", summary.title)
    rows += _prose(pen, "Goal   ", summary.goal) + _prose(pen, "Not    ", summary.excluded)
    rows += [_phase_row(pen, row) for row in summary.phases[:_PHASES]]
    if len(summary.phases) > _PHASES:
        rows.append(f"  {pen.symbols.ellipsis} and {len(summary.phases) - _PHASES} more phases")
    for lead, words in _terms(door, site, draft):
        rows += _prose(pen, f"{lead:<9}", words)
    if draft.tried is not None:
        rows += _prose(pen, "Checks   ", trial_summary(draft.tried))
    if draft.changes:
        rows += [f"What differs from {printable(draft.since)}:", *change_rows(pen, draft.changes)]
    return rows


def slug_of(asked: Approval) -> str:
    """Return the slug of a question's plan: its file name."""
    return asked.plan.rpartition("/")[2].removesuffix(".md")


def _prose(pen: Pen, lead: str, text: str) -> list[str]:
    rows = pen.hanging(lead, text, commands=False) if text else []
    if len(rows) <= _PROSE:
        return rows
    last = shorten(rows[_PROSE - 1], pen.width - len(pen.symbols.ellipsis) - 1, pen.symbols)
    return [*rows[: _PROSE - 1], last.removesuffix(pen.symbols.ellipsis) + f" {pen.symbols.ellipsis}"]


def _phase_row(pen: Pen, row: Row) -> str:
    promises = f"{row.size or ' '}  {counted(row.items, 'item'):<8} {counted(row.checks, 'check'):<9}"
    after = f" after {', '.join(row.after)}" if row.after else ""
    lead = f"  {pad(printable(row.id), 3)} "
    room = max(12, pen.width - len(lead) - len(promises) - 18)
    title = pad(shorten(printable(row.title), room, pen.symbols), room)
    return shorten(printable(f"{lead}{title}  {promises}{after}"), pen.width, pen.symbols).rstrip()


def _terms(door: Door, site: Site, draft: Draft) -> list[tuple[str, str]]:
    settings, plan = site.desk.settings, draft.plan
    terms = [("Tests", settings.text("checks.tests").strip() or "detected when the run begins")]
    scope = summary_of(plan).scope
    if scope:
        terms.append(("Touches", scope))
    if allowed := allowances_in(plan.source.text):
        terms.append(("Allows", "; ".join(allowed)))
    run = site.found(draft.revision.run)
    with site.journal.store.read() as session:
        past = past_of(session, LOCAL, site.repo)
    expected = expected_by(past, len(plan.phases), settings.text("proof.depth"))
    branch = run.options.branch if run else None
    options = RunOptions(
        branch=branch or "the branch that is checked out", hold=True, caps=chosen_for_runs(settings).caps
    )
    try:
        # A run of the plan takes over the agent that the user has named for its authoring.
        named = run.options.named_agent if run else ""
        options = with_team(options, settings, door.environ, agent=named or None, script=UNNAMED)
    except AsbuiltError as error:
        # The approver needs no agent on their own machine.
        _, *others = terms_of(options, expected)
        return [*terms, ("Agents", error.what), *others]
    return terms + terms_of(options, expected)


def as_json(door: Door, site: Site, draft: Draft) -> dict[str, Any]:
    """Return a draft as JSON data: everything on the screen, and the whole text."""
    summary = summary_of(draft.plan)
    return {
        "revision": draft.revision.number,
        "label": draft.revision.label,
        "by": draft.revision.by,
        "intent": draft.revision.intent,
        "digest": draft.revision.digest,
        "title": summary.title,
        "goal": summary.goal,
        "not": summary.excluded,
        "scope": summary.scope,
        "phases": [row._asdict() for row in summary.phases],
        "checks": summary.checks,
        "terms": {lead.lower(): words for lead, words in _terms(door, site, draft)},
        "since": draft.since,
        "changes": [file._asdict() for file in draft.changes],
        "tried": None if draft.tried is None else [trial._asdict() for trial in draft.tried],
        "text": draft.plan.source.data.decode("utf-8", "replace"),
    }
