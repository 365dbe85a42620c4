"""The draft that a question asks to approve, and its changes. Read-only.

Rule: the text returned is the text that a yes would approve, found by its digest. It is compared with the
last approved text, else with the revision before, so the user sees all that is not approved yet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.errors import NotFound
from asbuilt.flows.checks.dry_run import tried_of
from asbuilt.journal.drafts import drafts_of
from asbuilt.journal.ids import LOCAL, Address
from asbuilt.pages.drafts import Change, changes
from asbuilt.plan.reader import read

if TYPE_CHECKING:
    from asbuilt.journal.approvals import Approval
    from asbuilt.journal.blobs import Blobs
    from asbuilt.journal.database.store import Transactions
    from asbuilt.lifecycle.approval import Revision
    from asbuilt.plan.model import Plan
    from asbuilt.proof.trying import Tried

_DIGEST: Final = 11
"""Characters of a digest that are shown: `sha256:9c41`."""


class Draft(NamedTuple):
    """A revision, and its changes since an earlier text."""

    revision: Revision
    plan: Plan
    since: str
    """Name of the earlier text; empty if there is none."""
    changes: tuple[Change, ...]
    tried: list[Tried] | None
    """What its checks do before the work; None if they were not tried."""
    is_again: bool
    """Whether it was declined without a reason and is asked again."""

    @property
    def name(self) -> str:
        """Name of the revision: `revision 2 (edited by user)`."""
        label = f" ({self.revision.label})" if self.revision.label else ""
        return f"revision {self.revision.number}{label}"

    @property
    def brief(self) -> str:
        """The short digest that a yes would approve."""
        return self.revision.intent[:_DIGEST]


def draft_asked(store: Transactions, blobs: Blobs, repo: str, asked: Approval) -> Draft:
    """Find the text that a question is about, and its changes."""
    address = Address(LOCAL, repo, asked.plan)
    with store.read() as session:
        known = drafts_of(session, address)
        question = next((one for one in known.questions if one.name == asked.name), None)
        revision = known.revision(question.revision) if question else None
        tried = tried_of(session, blobs, address, revision) if revision else None
    if question is None or revision is None:
        raise NotFound(
            f"the draft of {asked.name} is not in the journal",
            why="The journal was put back to an earlier time, or another version wrote it.",
            next_step="`asbuilt doctor` looks at the journal.",
        )
    plan = read(blobs.get(revision.text))
    approved = next((one for one in reversed(known.approved) if one.intent != revision.intent), None)
    earlier = known.revision(revision.number - 1)
    if approved is not None:
        since, text = f"what {approved.by} approved", approved.text
    elif earlier is not None:
        since, text = f"revision {earlier.number}", earlier.text
    else:
        return Draft(revision, plan, "", (), tried, question.is_again)
    before = read(blobs.get(text))
    differs = changes(before.source.lines, plan.source.lines)
    return Draft(revision, plan, since, differs, tried, question.is_again)
