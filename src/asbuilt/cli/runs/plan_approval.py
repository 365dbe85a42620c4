"""Decide on a plan: yes, no, or an edited text.

Rule: an edit becomes a new revision, and is shown before it can be approved.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from msgspec import UNSET

from asbuilt import wiring
from asbuilt.cli.runs.agent_choice import with_agent
from asbuilt.cli.runs.drafts import change_rows, draft_of, screen_of, slug_of
from asbuilt.cli.shell.options import Door
from asbuilt.cli.shell.plan_context import problem_counts
from asbuilt.cli.shell.run_context import Site, asker
from asbuilt.cli.ui.agent_questions import DOUBTS
from asbuilt.cli.ui.clock import at
from asbuilt.cli.ui.confirm import typed
from asbuilt.cli.ui.editor import edit
from asbuilt.cli.ui.messages import next_command
from asbuilt.cli.ui.screen import Pen, printable
from asbuilt.cli.ui.words import counted, listed
from asbuilt.errors import DONE, GATE_STOPPED, GateStopped
from asbuilt.events.questions import is_about_work
from asbuilt.flows.authoring.refinement import Refinements, is_refinement
from asbuilt.flows.requests import answer, revise
from asbuilt.journal.approvals import Approval
from asbuilt.journal.drafts import drafts_of
from asbuilt.journal.events import keyed
from asbuilt.journal.ids import LOCAL, Address
from asbuilt.lifecycle.approval import REVISED, WITHDRAWN, Drafts
from asbuilt.lifecycle.authoring.questions import answer_to, recorded, reply_to
from asbuilt.lifecycle.replies import Answered, Chosen, InOwnWords, Later, No, Unclear, Yes
from asbuilt.pages.drafts import changes, summary_of
from asbuilt.plan.problems import Severity
from asbuilt.plan.reader import read

_KEYS: Final = "y approve   e edit   n reject with a reason   f full text   l later >"


class Given(NamedTuple):
    """The result of an answer: whether it counts, and the question after it."""

    counts: bool
    asked: Approval

    def code(self, wanted: str) -> int:
        """Return the exit code. Repeating an earlier answer is no error."""
        return DONE if self.counts or self.asked.answer == wanted else GATE_STOPPED


def give(door: Door, site: Site, number: int, reply: Answered, *, by: str | None = None) -> Given:
    """Record an answer, then write an approved refinement or start a worker; `by`: who answered elsewhere."""
    who = asker(door) if by is None else asker(door)._replace(actor=by)
    word, note = recorded(reply)
    given = Given(
        *answer(
            site.journal.store, LOCAL, site.repo, number,
            reply=word, note=note, asker=who, approvers=_approvers(site),
        )
    )  # fmt: skip
    if given.counts and is_refinement(given.asked.run):
        _file_refined(door, site, given.asked)
    elif given.counts:
        run = site.found(given.asked.run)
        if run is None or run.options.fleet is UNSET:
            wiring.ensure_worker(site.journal.home, door.environ)
    return given


def refinements_of(site: Site, plan: str) -> Refinements:
    """Return the refinements of a plan."""
    return Refinements(site.journal.store, site.journal.blobs, Address(LOCAL, site.repo, plan))


def _file_refined(door: Door, site: Site, asked: Approval) -> None:
    """Write the approved text, if this is the checkout in which the refinement was started."""
    if site.lead:
        # The question belongs to another repository; on another machine a checkout may have the same path.
        return
    refinements = refinements_of(site, asked.plan)
    last = refinements.last()
    if last is None or last.run != asked.run or last.checkout != str(site.repository.root):
        return
    opened = site.desk.open(asked.plan)
    refinements.file(last, opened.plan, opened.at.file, name=opened.at.shown, actor=asker(door).actor)


def _approvers(site: Site) -> tuple[str, ...]:
    return site.desk.settings.globs("approvals.plan")


def edited(door: Door, site: Site, asked: Approval) -> Approval:
    """Let the user edit a draft. Return the question about the new text, or the same one if nothing changed.

    The text is kept in the state folder until it is a revision, so an edit with errors is not lost.
    """
    draft = draft_of(site, asked)
    file = site.journal.home.edits / f"{asked.run}-{draft.revision.number}.md"
    if not file.exists():
        file.parent.mkdir(mode=0o700, exist_ok=True)
        file.write_bytes(draft.plan.source.data)
    failure = edit(door, file, name=str(file))
    if failure:
        door.screen.talk(failure)
    data = file.read_bytes()
    plan = read(data)
    if plan.intent == draft.plan.intent:
        file.unlink()
        door.screen.talk(f"The requirements are unchanged. {asked.name} still waits.")
        return asked
    pen = door.screen.err
    found = changes(draft.plan, plan)
    door.screen.talk("Changes:")
    door.screen.talk_all(change_rows(pen, found))
    errors = [problem for problem in plan.problems if problem.severity is Severity.ERROR]
    if errors:
        raise GateStopped(
            f"your text has {counted(len(errors), 'error')}: line {errors[0].line}: {errors[0].message}",
            why="asbuilt cannot tell when a phase of such a plan is done. Your text is kept.",
            next_step=f"`asbuilt approve yes {site.lead}{asked.name} --edit` opens your text again.",
        )
    door.screen.talk(f"{pen.symbols.proven} plan check: {problem_counts(plan) or 'clean'}")
    return _revised(door, site, asked, file, data)


def _revised(door: Door, site: Site, asked: Approval, file: Path, data: bytes) -> Approval:
    number = int(asked.name[1:])
    is_ours, now = revise(
        site.journal.store, site.journal.blobs, LOCAL, site.repo, number,
        data=data, asker=asker(door), approvers=_approvers(site),
    )  # fmt: skip
    if not is_ours:
        raise GateStopped(
            f"{now.name} was answered while you edited: {now.answer}, by {now.answered_by}",
            why=f"Your text is kept as {file.parent.name}/{file.name} in the state folder.",
            next_step=f"`asbuilt approve show {site.lead}{now.name}`",
        )
    file.unlink()
    return now


def decide(door: Door, site: Site, asked: Approval, *, is_followed: bool = False) -> bool:
    """Ask the user about a draft until it is answered. Return False if it is left for later.

    If the run is followed, its end reports the result of the answer, and only the first row is printed here.
    """
    pen = door.screen.err
    for row in screen_of(door, site, asked, draft_of(site, asked), pen):
        pen.line(row)
    while True:
        try:
            word = typed(door, _KEYS)
            reply = reply_to(asked.kind, asked.question, word)
            reply = No(typed(door, "Why? >")) if reply == No() else reply
        except KeyboardInterrupt:
            pen.line()
            return False
        match word.casefold(), reply:
            case (("e" | "edit"), _):
                asked = _edited_here(door, site, asked)
            case (("f" | "full"), _):
                for line in draft_of(site, asked).plan.source.lines:
                    pen.line(printable(line))
            case ("", _) | (_, Later()):
                return False
            case _, Unclear(reason):
                door.screen.talk(printable(f'"{word}" is no answer: {DOUBTS[reason]}. Nothing was recorded.'))
            case _, (Yes() | No() | Chosen() | InOwnWords()) as given:
                _answer_here(door, site, asked, given, is_followed=is_followed)
                return True


def _answer_here(door: Door, site: Site, asked: Approval, reply: Answered, *, is_followed: bool) -> None:
    pen = door.screen.err
    outcome = result_of(site, give(door, site, asked.number, reply), pen)
    for row in outcome.rows[:1] if is_followed else outcome.rows:
        pen.line(row)
    if not is_followed:
        outcome.show_next(door, site)


def _edited_here(door: Door, site: Site, asked: Approval) -> Approval:
    """Edit a draft inside a dialogue, where a refusal is printed and not raised."""
    try:
        now = edited(door, site, asked)
    except GateStopped as error:
        door.screen.talk(f"{door.screen.err.symbols.failed} {printable(error.what)}")
        return asked
    draft = draft_of(site, now)
    door.screen.talk(f"{now.name} asks about {draft.name}, {draft.brief}")
    return now


class Outcome(NamedTuple):
    """The result of an answer in rows, and the next command to type."""

    rows: list[str]
    command: str = ""
    starts: str = ""
    """The plan of which the command starts a run."""

    def show_next(self, door: Door, site: Site) -> None:
        """Print the next command."""
        if self.starts:
            with_agent(door, site.desk.settings, self.command, plan=self.starts).show(door)
        elif self.command:
            next_command(door, self.command)


def result_of(site: Site, given: Given, pen: Pen) -> Outcome:
    """Return the result of an answer: it counts, or what holds instead."""
    asked = given.asked
    if not given.counts and asked.answer == REVISED:
        return _overtaken(site, asked, pen)
    status = "asbuilt approve --all" if site.lead else f"asbuilt status {slug_of(asked)}"
    if not given.counts and asked.answer == WITHDRAWN:
        over, following = "its run is over", "" if site.lead else f"asbuilt run {slug_of(asked)}"
        if is_about_work(asked.key):
            over = "the work that it asks about was dropped, has landed, or is asked about again"
            following = status
        gone = f"{asked.name} was withdrawn: {over}. Nothing was answered."
        return Outcome([printable(gone)], following)
    if not given.counts:
        words = f"{asked.name} was already answered: {asked.answer}, by {asked.answered_by}."
        return Outcome([printable(words)], status)
    if asked.kind == "plan" and asked.answer == "yes":
        return _approved(site, asked, pen)
    if asked.kind == "plan" and (run := site.found(asked.run)) and run.options.kind == "author":
        return _declined(site, asked)
    if asked.kind == "question" and asked.answer == "yes":
        words = answer_to(asked.question, "yes", asked.note or "").partition("\n")[2]
        command = "" if site.lead else f"asbuilt watch {slug_of(asked)}"
        return Outcome(pen.hanging("", f"{asked.name}: {words}. {asked.gist}", commands=False), command)
    follow = status if site.lead or asked.answer == "no" else _taking_up(site, asked)
    return Outcome(pen.hanging("", f"{asked.name}: {asked.answer}. {asked.gist}", commands=False), follow)


def _taking_up(site: Site, asked: Approval) -> str:
    """Return the command that takes a yes up: it follows the run, or starts the next if that run is over."""
    run = site.found(asked.run)
    return f"asbuilt {'run' if run is not None and run.is_over else 'watch'} {slug_of(asked)}"


def _overtaken(site: Site, asked: Approval, pen: Pen) -> Outcome:
    """Show the changes since the text that was answered, because a newer revision exists."""
    draft, known = draft_of(site, asked), _drafts(site, asked)
    newest, question = known.newest or draft.revision, known.asked
    words = (
        f"{asked.name} is about {draft.name}, but revision {newest.number} by {newest.by} is newer."
        " Nothing was answered. Changes:"
    )
    now = read(site.journal.blobs.get(newest.text))
    rows = change_rows(pen, changes(draft.plan, now))
    command = f"asbuilt approve show {site.lead}{question.name}" if question else "asbuilt approve"
    return Outcome([*pen.hanging("", words, commands=False), *rows], command)


def _declined(site: Site, asked: Approval) -> Outcome:
    """Describe what a no to a draft starts. Another repository's run is not followed from here."""
    command = "" if site.lead else f"asbuilt watch {slug_of(asked)}"
    if (asked.note or "").strip():
        return Outcome([f"{asked.name}: no. The author gets your reason and submits a new draft."], command)
    if any(question.name == asked.name and question.is_again for question in _drafts(site, asked).questions):
        return Outcome([f"{asked.name}: no, again without a reason. The authoring ends; the draft is kept."])
    return Outcome([f"{asked.name}: no. You will be asked again what to change."], command)


def _approved(site: Site, asked: Approval, pen: Pen) -> Outcome:
    draft, known = draft_of(site, asked), _drafts(site, asked)
    approved = known.covering(draft.revision.intent)
    heading = approved.heading if approved else ""
    words = f"{asked.answered_by}, {at(asked.answered_at or '', datetime.now(UTC))}"
    rows = [f"{pen.symbols.proven} {heading}: {printable(words)}, revision {draft.revision.number}"]
    rows += pen.hanging("  ", f"{asked.plan} {_where(site, asked)}. Editing it needs a new approval.")
    for wave in summary_of(draft.plan).side_by_side:
        rows += pen.hanging("  ", f"Phases {listed(wave)} do not need each other.", commands=False)
    # In another repository, its own users run the plan.
    slug = slug_of(asked)
    return Outcome(rows) if site.lead else Outcome(rows, f"asbuilt run {slug}", starts=slug)


def _where(site: Site, asked: Approval) -> str:
    with site.journal.store.read() as session:
        filed = keyed(session, Address(LOCAL, site.repo, asked.plan), f"{asked.run}/filed")
    if filed is not None:
        return "has it"
    if is_refinement(asked.run):
        return f"is unchanged here: `asbuilt plan refine {slug_of(asked)}` writes it where it was started"
    return "is written next (not committed)"


def _drafts(site: Site, asked: Approval) -> Drafts:
    with site.journal.store.read() as session:
        return drafts_of(session, Address(LOCAL, site.repo, asked.plan))
