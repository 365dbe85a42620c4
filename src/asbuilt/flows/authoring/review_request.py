"""Propose a plan's draft to reviewers as a pull request. Every step is idempotent.

The draft is one commit on a branch of its own; the user's checkout and branches do not change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.errors import ForgeBusy, ForgeFailed
from asbuilt.git.commits import author_of, message_for
from asbuilt.git.forge.gh import LATER
from asbuilt.git.landing.candidates import Candidate, Edit, add_files
from asbuilt.git.trees import file_in
from asbuilt.lifecycle.pull_request.forge import BranchMoved, Pull
from asbuilt.lifecycle.pull_request.reviews import Decision, decide, to_ask_about
from asbuilt.pages.pull import title as title_of
from asbuilt.plan.reader import read
from asbuilt.policy.masking import masked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from asbuilt.git.repository import Repository
    from asbuilt.ports import Forge

BRANCH: Final = "plan/"


class Text(NamedTuple):
    """A draft, as a file of the repository."""

    path: str
    slug: str
    title: str
    data: bytes
    revision: int


class Proposal(NamedTuple):
    """A pull request, and its commit with exactly the text."""

    pull: Pull
    head: str


def propose(repository: Repository, forge: Forge, text: Text, *, base: str) -> Proposal:
    """Ensure that the branch has the text and an open pull request, and return the pull request."""
    branch = BRANCH + text.slug
    head, target = forge.fetch(branch), forge.fetch(base)
    if target is None:
        raise ForgeFailed(
            f"{forge.address} has no branch {base}",
            why="A plan is proposed for the branch that it was authored on.",
            next_step=f"git push origin {base}, then try again.",
        )
    if head is None or file_in(repository, head, text.path) != text.data:
        before, head = head, _committed(repository, text, onto=head or target)
        pushed = forge.push(branch, head, expected=before)
        if isinstance(pushed, BranchMoved):
            head = _pushed_by_others(repository, forge, text, branch)
    name = title_of(text.slug, f"Plan: {text.title}")
    found = forge.find(branch)
    if found is None or found.state == "closed":
        body = masked(_BODY.format(path=text.path))
        found = forge.open(branch=branch, base=base, title=name, body=body)
    return Proposal(found, head)


def decision(forge: Forge, number: int, *, head: str, approvers: Sequence[str]) -> Decision:
    """Return the approvers' decision; write access is queried only for logins that match a pattern."""
    reviews = forge.reviews(number)
    asked = to_ask_about(reviews, head=head, approvers=approvers)
    writers = {login for login in sorted(asked) if forge.may_write(login)}
    return decide(reviews, forge.comments(number), head=head, approvers=approvers, writers=writers)


def text_of(path: str, data: bytes, revision: int) -> Text:
    """Return a revision as a file of the repository."""
    plan = read(data)
    return Text(path, path.rpartition("/")[2].removesuffix(".md"), plan.title, data, revision)


def _pushed_by_others(repository: Repository, forge: Forge, text: Text, branch: str) -> str:
    """Accept a branch that moved meanwhile if it has the text: two workers may propose it at once."""
    head = forge.fetch(branch)
    if head is None or file_in(repository, head, text.path) != text.data:
        raise ForgeBusy(
            f"another user has moved {branch}",
            why="Their commits are not overwritten.",
            next_step=LATER,
        )
    return head


def _committed(repository: Repository, text: Text, *, onto: str) -> str:
    subject = f"{text.title}: the plan, revision {text.revision}"
    edit = Edit(files={text.path: text.data}, message=message_for(subject), by=author_of(repository))
    start = Candidate(onto=onto, tip=onto, commits=())
    return add_files(repository, start, edit, run="").tip


_BODY: Final = """\
A plan that waits for approval: `{path}`. Nothing is built before.

An approving review by a user of `approvals.plan` covers exactly this text. A review that requests changes
sends it back, and its comments go to the agent that writes the next draft.
"""
