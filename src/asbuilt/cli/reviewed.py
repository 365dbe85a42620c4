"""`asbuilt approve pr`: a draft as a pull request, and what its reviewers say. An answer counts once."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

import click

from asbuilt.cli.commands import Command
from asbuilt.cli.deciding import give
from asbuilt.cli.drafts import draft_of, slug_of
from asbuilt.cli.inbox import question_at, question_in
from asbuilt.cli.options import Door, shared
from asbuilt.cli.run import target_of
from asbuilt.cli.screen import printable
from asbuilt.errors import DONE, WAITS_FOR_APPROVAL, UsageWrong
from asbuilt.flows.reviewing import Text, propose
from asbuilt.git.forge import open_forge
from asbuilt.journal import runs
from asbuilt.journal.ids import LOCAL
from asbuilt.lifecycle.reviewing import Bound, SentBack, Undecided, decide

if TYPE_CHECKING:
    from asbuilt.cli.site import Site
    from asbuilt.journal.approvals import Approval


@click.command(
    "pr",
    cls=Command,
    examples=[
        ("asbuilt approve pr a1", "open its pull request, or hear what the reviewers said"),
    ],
)
@click.argument("question")
@shared(json=True)
def command(door: Door, question: str) -> int:
    """Put a plan to reviewers as a pull request, and take their word; typed again, it goes on from there.

    An approving review of exactly this text, by whom approvals.plan names (github:LOGIN), is its yes.
    One that requests changes is a no, with the remarks as findings. While nobody has decided it ends with 5.
    """
    site, number = question_at(door, question)
    asked = question_in(site, number)
    if asked.kind != "plan":
        raise UsageWrong(
            f"{asked.name} is not about a plan, so that nobody can review it: {asked.gist}",
            why="Only a plan has a text that can be a pull request.",
            next_step=f"`asbuilt approve show {site.lead}{asked.name}`",
        )
    return review(door, site, asked)


def review(door: Door, site: Site, asked: Approval) -> int:
    """See that a draft is a pull request, and answer its question as the reviewers do."""
    with site.journal.store.read() as session:
        run = runs.find(session, LOCAL, site.repo, asked.run)
    options = run.options if run else {}
    draft = draft_of(site, asked)
    text = Text(asked.plan, slug_of(asked), draft.plan.title, draft.plan.source.data, draft.revision.number)
    forge = open_forge(site.repository, door.environ)
    pull, head = propose(
        site.repository, forge, text, base=options.get("branch") or target_of(site.repository.root)
    )
    approvers = options.get("approvers") or site.desk.settings.globs("approvals.plan")
    said = decide(forge.reviews(pull.number), forge.comments(pull.number), head=head, approvers=approvers)
    return _taken(door, site, asked, said, pull.url)


def _taken(door: Door, site: Site, asked: Approval, said: Bound | SentBack | Undecided, url: str) -> int:
    match said:
        case Bound():
            given = give(door, site, asked.number, "yes", f"review of {url}", by=said.by)
        case SentBack():
            given = give(door, site, asked.number, "no", said.note, by=said.by)
        case Undecided():
            words, code = f"{asked.name} waits for a review: {url} ({said.why})", WAITS_FOR_APPROVAL
            return _told(door, asked, words, url, code)
        case _:
            assert_never(said)
    now = given.asked
    return _told(door, now, f"{now.name} is answered {now.answer}, by {now.answered_by}: {url}", url, DONE)


def _told(door: Door, asked: Approval, words: str, url: str, code: int) -> int:
    if door.json:
        told = {"id": asked.name, "answer": asked.answer, "answered_by": asked.answered_by, "url": url}
        door.screen.emit_json({"schema": "asbuilt.review/1", **told, "exit": code})
    else:
        door.screen.answer(printable(words))
    return code
