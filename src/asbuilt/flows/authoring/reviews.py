"""Poll the pull requests of plan drafts until an approver decides.

Rule: the next poll is scheduled before this one starts, and every step is idempotent. A worker that is killed
during a poll loses one interval, and an answer counts once.

A draft is proposed as one commit on a branch of its own; the user's checkout and branches do not change.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, assert_never

from asbuilt.errors import AsbuiltError, ForgeBusy, ForgeFailed
from asbuilt.flows.engine.transient import retry_at
from asbuilt.flows.requests import Asker, answer
from asbuilt.flows.run.environment import keep_for_forge, kept_for_forge
from asbuilt.flows.run.record import ACTOR
from asbuilt.git.commits import author_of, message_for
from asbuilt.git.forge.gh import LATER
from asbuilt.git.forge.github import GitHub, open_forge
from asbuilt.git.landing.candidates import Candidate, Edit, add_files
from asbuilt.git.repository import Repository, open_repository
from asbuilt.git.trees import file_in
from asbuilt.journal import reviews, runs
from asbuilt.journal.approvals import Answer
from asbuilt.journal.drafts import drafts_of
from asbuilt.journal.events import shortened
from asbuilt.journal.home import Home
from asbuilt.journal.home import machine as this_machine
from asbuilt.journal.reviews import LookFailed, Review, Terms
from asbuilt.journal.runs import Run
from asbuilt.lifecycle.approval import Revision
from asbuilt.lifecycle.authoring import reviews as reviewing
from asbuilt.lifecycle.pull_request.forge import BranchMoved, Pull, PullState
from asbuilt.lifecycle.run.retry_times import seconds_after
from asbuilt.pages.pull_request import title as title_of
from asbuilt.plan.reader import read
from asbuilt.policy.masking import masked

if TYPE_CHECKING:
    from asbuilt.journal.blobs import Blobs
    from asbuilt.journal.database.store import Store

_WORDS: Final = 400
"""Most characters of each part of a failed poll's error that its row keeps."""
BRANCH: Final = "plan/"


def await_reviews(  # noqa: PLR0913 - a review has these parts
    store: Store, home: Home, run: Run, proposal: Proposal, *, question: int, terms: Terms, asker: Asker
) -> None:
    """Have the worker poll the reviews and propose later drafts, with the asker's forge login."""
    keep_for_forge(home.runs / run.run, asker.environ)
    with store.write() as session:
        wanted = _review(run, proposal, question=question, terms=terms, now=session.now)
        reviews.set_(session, wanted, actor=asker.actor)


class _Asked(NamedTuple):
    """A draft that waits for the reviewers' decision."""

    run: Run
    question: int
    revision: Revision


class _PollResult(NamedTuple):
    """The state of a pull request, and the reviewers' decision."""

    review: Review
    state: PullState
    decided: reviewing.Decision


class Reviews:
    """The reviews that one worker polls."""

    every_s = 5.0
    """Interval of the journal query for due polls; the forge is polled at each plan's own interval."""

    def __init__(
        self, store: Store, blobs: Blobs, home: Home, *, org: str, machine: str | None = None
    ) -> None:
        """Keep the parts. `machine` limits the reviews to one machine's repositories on a shared database."""
        self._store = store
        self._blobs = blobs
        self._home = home
        self._org = org
        self._machine = machine
        self.waits = False
        """Whether any review is open, as of the last poll."""

    def look(self) -> int:
        """Poll every review that is due, and return their number."""
        looked = 0
        while self._is_due() and (found := self._taken()) is not None:
            self._look_at(found)
            looked += 1
        return looked

    def _is_due(self) -> bool:
        with self._store.read() as session:
            self.waits = reviews.is_any(session, self._org, machine=self._machine)
            return self.waits and reviews.is_due(session, self._org, machine=self._machine)

    def _taken(self) -> Review | None:
        """Claim the next due review, so that no other worker polls it."""
        with self._store.write() as session:
            found = reviews.next_due(session, self._org, machine=self._machine)
            if found is not None:
                reviews.put_off(session, found, until=seconds_after(session.now, found.options.poll_s))
        return found

    def _look_at(self, review: Review) -> None:
        asked = self._asked(review)
        if asked is None:
            return
        try:
            result = self._queried(review, asked)
        except (AsbuiltError, OSError) as error:
            failed = LookFailed(str(error))
            if isinstance(error, AsbuiltError):
                failed = LookFailed(
                    *(shortened(part, _WORDS) for part in (error.what, error.why, error.next_step))
                )
            with self._store.write() as session:
                again = retry_at(error, review.troubles, session.now)
                reviews.record_failure(session, review, failed=failed, until=again)
            return
        self._take(result, asked)

    def _asked(self, review: Review) -> _Asked | None:
        """Return the draft that waits for a decision, or None; end a review that can never get one."""
        with self._store.read() as session:
            run = runs.find(session, review.org, review.repo, review.run)
            drafts = drafts_of(session, review.address)
        due = reviewing.due(drafts.asked, review.run, is_over=run is None or run.is_over)
        if isinstance(due, reviewing.Look) and run is not None and drafts.newest is not None:
            return _Asked(run, int(due.question.name[1:]), drafts.newest)
        if not isinstance(due, reviewing.Rest):
            with self._store.write() as session:
                reviews.end(session, review)
        return None

    def _queried(self, review: Review, asked: _Asked) -> _PollResult:
        """Query the forge; propose a new draft to the same reviewers first."""
        options = asked.run.options
        repository = open_repository(Path(options.checkout), agreed=options.programs or ())
        forge = open_forge(repository, kept_for_forge(self._home.runs / review.run))
        state, terms = forge.pull(review.pull).state, review.options
        is_new = asked.question != review.question
        if state == "closed" or (state == "merged" and is_new):
            return _PollResult(review, state, reviewing.Undecided(""))
        if is_new:
            text = text_of(review.plan, self._blobs.get(asked.revision.text), asked.revision.number)
            proposal = propose(repository, forge, text, base=terms.base)
            with self._store.write() as session:
                review = _review(asked.run, proposal, question=asked.question, terms=terms, now=session.now)
                reviews.set_(session, review, actor=ACTOR)
        decided = decision(forge, review.pull, head=review.head, approvers=terms.approvers)
        return _PollResult(review, state, decided)

    def _take(self, result: _PollResult, asked: _Asked) -> None:
        review, state, decided = result
        match decided:
            case reviewing.Bound(by):
                self._answer(asked, "yes", by, f"review of {review.url}", review.options)
            case reviewing.SentBack(by, note):
                self._answer(asked, "no", by, note, review.options)
            case reviewing.Undecided():
                with self._store.write() as session:
                    if state == "open":
                        wait = reviewing.wait_s(review.options.poll_s, review.looks)
                        reviews.looked(session, review, until=seconds_after(session.now, wait))
                    else:
                        why = f"pull request #{review.pull} was {state} before a reviewer decided"
                        reviews.close(session, review, why=why, actor=ACTOR)
            case _:
                assert_never(decided)

    def _answer(self, asked: _Asked, decided: Answer, by: str, note: str, terms: Terms) -> None:
        run, asker = asked.run, Asker(by, this_machine(), {})
        answer(
            self._store, run.org, run.repo, asked.question,
            reply=decided, note=note, asker=asker, approvers=terms.approvers,
        )  # fmt: skip


def _review(run: Run, proposal: Proposal, *, question: int, terms: Terms, now: str) -> Review:
    pull, head = proposal
    due_at = seconds_after(now, terms.poll_s)
    return Review(*run.address, run.run, pull.number, pull.url, question, head, terms, due_at=due_at)


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


def propose(repository: Repository, forge: GitHub, text: Text, *, base: str) -> Proposal:
    """Ensure that the branch has the text and an open pull request, and return the pull request."""
    branch = BRANCH + text.slug
    head, target = forge.fetch(branch), forge.fetch(base)
    if target is None:
        raise ForgeFailed(
            f"{forge.address} has no branch {base}",
            why="A plan is proposed for the branch that it was authored on.",
            next_step=f"`git push origin {base}`, then try again.",
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


def decision(forge: GitHub, number: int, *, head: str, approvers: Sequence[str]) -> reviewing.Decision:
    """Return the approvers' decision; write access is queried only for logins that match a pattern."""
    reviews = forge.reviews(number)
    asked = reviewing.to_ask_about(reviews, head=head, approvers=approvers)
    writers = {login for login in sorted(asked) if forge.may_write(login)}
    return reviewing.decide(reviews, forge.comments(number), head=head, approvers=approvers, writers=writers)


def text_of(path: str, data: bytes, revision: int) -> Text:
    """Return a revision as a file of the repository."""
    plan = read(data)
    return Text(path, path.rpartition("/")[2].removesuffix(".md"), plan.title, data, revision)


def _pushed_by_others(repository: Repository, forge: GitHub, text: Text, branch: str) -> str:
    """Accept a branch that moved meanwhile if it has the text: two workers may propose it at once."""
    head = forge.fetch(branch)
    if head is None or file_in(repository, head, text.path) != text.data:
        raise ForgeBusy(
            f"another user has moved {branch}", why="Their commits are not overwritten.", next_step=LATER
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
