"""`asbuilt approve pr`: submit a draft as a pull request, and take its reviewers' decision as the answer.

An answer counts once.
"""

from __future__ import annotations

from typing import NamedTuple, assert_never

import click

from asbuilt import wiring
from asbuilt.cli.commands.run.follow import target_of
from asbuilt.cli.runs.drafts import draft_of
from asbuilt.cli.runs.inbox import question_at, question_in
from asbuilt.cli.runs.plan_approval import give
from asbuilt.cli.shell.options import Door, subcommand
from asbuilt.cli.shell.run_context import Site, asker
from asbuilt.cli.ui.screen import printable
from asbuilt.errors import DONE, PARKED, UsageWrong
from asbuilt.events.options import RunOptions
from asbuilt.flows.authoring.reviews import await_reviews, decision, propose, text_of
from asbuilt.git.forge.github import open_forge
from asbuilt.journal import approvals
from asbuilt.journal.approvals import Approval
from asbuilt.journal.ids import LOCAL, Address
from asbuilt.journal.reviews import Terms
from asbuilt.lifecycle.authoring.reviews import Bound, Decision, SentBack, Undecided
from asbuilt.lifecycle.replies import No, Yes


@subcommand("pr", ("asbuilt approve pr a1", "open its pull request, or fetch its reviews now"))
@click.argument("question")
def command(door: Door, question: str) -> int:
    """Open a pull request that puts a plan to reviewers. The worker polls it; run this again to poll now.

    An approving review of exactly this text by a reviewer in approvals.plan (github:LOGIN) approves it.
    A review that requests changes declines it; its remarks become findings. Exits with 5 while undecided.
    """
    return review(door, *plan_question(door, question))


def plan_question(door: Door, name: str) -> tuple[Site, Approval]:
    """Find a question about a plan. Raise if it is about something else."""
    site, number = question_at(door, name)
    asked = question_in(site, number)
    if asked.kind != "plan":
        raise UsageWrong(
            f"{asked.name} is not about a plan: {asked.gist}",
            why="Only a plan has a text that can be changed or reviewed before it is approved.",
            next_step=f"`asbuilt approve show {site.lead}{asked.name}`",
        )
    return site, asked


def put_to_reviewers(door: Door, site: Site, address: Address, *, is_here: bool) -> int:
    """Open a pull request for a waiting authoring's draft and print its URL; `is_here`: start no worker."""
    with site.journal.store.read() as session:
        waiting = approvals.waiting(session, LOCAL, site.repo)
    asked = next(
        (approval for approval in waiting if approval.kind == "plan" and approval.plan == address.plan), None
    )
    if asked is None:
        return PARKED
    outcome = _reviewed(door, site, asked, is_here=is_here)
    door.screen.talk(printable(outcome.words))
    return outcome.code


def review(door: Door, site: Site, asked: Approval) -> int:
    """Open the draft's pull request if it has none, answer by its reviews, and print the result."""
    outcome = _answered(asked) if asked.answer else _reviewed(door, site, asked)
    now, url = outcome.asked, outcome.url
    data = {"id": now.name, "answer": now.answer, "answered_by": now.answered_by, "url": url}
    if not door.emitted("asbuilt.review/1", {**data, "exit": outcome.code}):
        door.screen.answer(printable(outcome.words))
    return outcome.code


def _reviewed(door: Door, site: Site, asked: Approval, *, is_here: bool = False) -> ReviewOutcome:
    run = site.found(asked.run)
    options = run.options if run else RunOptions()
    draft = draft_of(site, asked)
    text = text_of(asked.plan, draft.plan.source.data, draft.revision.number)
    terms = Terms(
        tuple(options.approvers or site.desk.settings.globs("approvals.plan")),
        options.branch or target_of(site.repository.root),
        site.desk.settings.number("landing.ci_poll_s"),
    )
    forge = open_forge(site.repository, door.environ)
    proposal = propose(site.repository, forge, text, base=terms.base)
    pull, head = proposal
    decided = decision(forge, pull.number, head=head, approvers=terms.approvers)
    # A refinement has no run; the command that takes the answer writes its file.
    if run is not None and terms.approvers and not site.lead:
        journal = site.journal
        await_reviews(
            journal.store, journal.home, run, proposal,
            question=asked.number, terms=terms, asker=asker(door),
        )  # fmt: skip
        if not is_here:
            wiring.ensure_worker(journal.home, door.environ)
    return _taken(door, site, asked, decided, pull.url)


class ReviewOutcome(NamedTuple):
    """The state of a question, and the pull request with its text."""

    asked: Approval
    words: str
    url: str
    code: int


def _taken(door: Door, site: Site, asked: Approval, decided: Decision, url: str) -> ReviewOutcome:
    match decided:
        case Bound():
            given = give(door, site, asked.number, Yes(f"review of {url}"), by=decided.by)
        case SentBack():
            given = give(door, site, asked.number, No(decided.note), by=decided.by)
        case Undecided():
            words = f"{asked.name} waits for a review: {url} ({decided.why})"
            return ReviewOutcome(asked, words, url, PARKED)
        case _:
            assert_never(decided)
    return _answered(given.asked, url)


def _answered(asked: Approval, url: str = "") -> ReviewOutcome:
    where = f": {url}" if url else ""
    return ReviewOutcome(
        asked, f"{asked.name} is answered {asked.answer}, by {asked.answered_by}{where}", url, DONE
    )
