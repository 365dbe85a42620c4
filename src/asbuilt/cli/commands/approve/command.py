"""`asbuilt approve`: list and answer everything that waits for the user. An answer counts once."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from itertools import takewhile
from typing import Any, Final

import click

from asbuilt.cli.commands.approve.reviewers import plan_question
from asbuilt.cli.commands.land import land
from asbuilt.cli.runs import inbox
from asbuilt.cli.runs.drafts import as_json, draft_of, screen_of
from asbuilt.cli.runs.next_step import answering, deciding_again
from asbuilt.cli.runs.plan_approval import edited, give, result_of
from asbuilt.cli.shell.lazy import Lazy, LazyGroup
from asbuilt.cli.shell.options import Door, subcommand
from asbuilt.cli.shell.run_context import Site, asker
from asbuilt.cli.ui.agent_questions import as_typed, below, unclear
from asbuilt.cli.ui.clock import ago, stamp
from asbuilt.cli.ui.columns import pad, shorten, width
from asbuilt.cli.ui.confirm import agreed
from asbuilt.cli.ui.messages import answer, next_command
from asbuilt.cli.ui.screen import printable
from asbuilt.cli.wording.reviews import under_review
from asbuilt.errors import DONE, UsageWrong
from asbuilt.flows.requests import decline, put_off
from asbuilt.journal import reviews
from asbuilt.journal.approvals import Approval
from asbuilt.journal.ids import LOCAL, Address
from asbuilt.journal.runs import Run
from asbuilt.lifecycle.authoring.questions import options_of, recorded, reply_to
from asbuilt.lifecycle.replies import Answered, Later, No, Unclear, Yes, reply_in
from asbuilt.session.authoring_binding import is_bound
from asbuilt.session.context.command_arguments import take_typed
from asbuilt.session.conversation import folder_of, key_of


def _list(door: Door, *, everywhere: bool) -> int:
    asked = inbox.waiting_everywhere(door) if everywhere else inbox.waiting_here(door)
    proven = [] if everywhere else inbox.landing_here(door)
    rows = [{**_json(wait.asked, wait.run), "id": wait.name} for wait in asked]
    to_land = [
        {"plan": run.plan, "run": run.name, "ended_at": stamp(run.ended_at or run.at)} for run in proven
    ]
    if door.emitted("asbuilt.approvals/1", {"waiting": rows, "to_land": to_land}):
        return DONE
    if not asked and not proven:
        door.screen.answer("Nothing waits for you." if everywhere else "Nothing waits for you here.")
        next_command(door, "asbuilt status --all" if everywhere else "asbuilt status")
        return DONE
    rows_shown = [
        (wait.name, wait.asked.kind, wait.asked.gist, wait.run, wait.asked.asked_at) for wait in asked
    ]
    for run in proven:
        about = f"proven; land it on {run.options.branch}?"
        rows_shown.append((run.name, "landing", about, run.name, run.ended_at or run.at))
    _show_rows(door, rows_shown)
    if asked:
        first = next((wait for wait in asked if wait.is_open), asked[0])
        answering(first.asked, first.name).show(door)
    else:
        next_command(door, f"asbuilt approve yes {proven[0].name}")
    return DONE


def _show_rows(door: Door, rows: list[tuple[str, str, str, str, str]]) -> None:
    now, symbols = datetime.now(UTC), door.screen.out.symbols
    wide = min(20, max(5, *(width(row[0]) + 2 for row in rows)))
    room = max(12, 47 - wide)
    door.screen.answer(f"  {'ID':<{wide}}{'KIND':<10}{'ABOUT':<{room}}{'FROM':<14}{'AGE':>7}")
    for name, kind, gist, run, since in rows:
        about = pad(shorten(printable(gist), room - 1, symbols), room)
        row = f"  {pad(name, wide)}{kind:<10}{about}{shorten(run, 13, symbols):<14}"
        door.screen.answer(printable(f"{row}{ago(since, now):>7}"))


def _json(approval: Approval, run: str) -> dict[str, Any]:
    return {
        "id": approval.name,
        "kind": approval.kind,
        "question": approval.question,
        "plan": approval.plan,
        "run": run,
        "phase": approval.phase,
        "asked_at": stamp(approval.asked_at),
        "answer": approval.answer,
        "answered_by": approval.answered_by,
        "note": approval.note,
    }


def _alone(door: Door, *, everywhere: bool, here: bool) -> int:
    """List what waits, or with `here` do what the user typed after /asbuilt:approve: `a1`, `no a1 WHY`."""
    folder = folder_of(door.environ, key_of(door.environ))
    if here and (typed := (take_typed(folder, "approve") or "").strip()):
        return _answered_here(door, folder, typed)
    return _list(door, everywhere=everywhere)


_QUESTION: Final = re.compile(r"(.+:)?a[0-9]+")
_OPTION: Final = re.compile(r"--?[a-z].*", re.DOTALL)
_VERBS: Final = ("yes", "no", "later", "pr", "show")
_SAID: Final = frozenset(_VERBS) - {"pr"}


class _Inbox(LazyGroup):
    """The group of `approve`, in which a question may come before its answer: `approve a1 b`."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Read `a1` as `show a1`, `a1 no` as `no a1`, and other words behind a name as an answer."""
        if _QUESTION.fullmatch(args[0]):
            name, *rest = args
            words = [*takewhile(lambda word: not _OPTION.fullmatch(word), rest)]
            options = rest[len(words) :]
            if not words and options[:1] in (["-m"], ["--message"]):
                # The words of an answer, whose verb was left out.
                words, options = options[1:2], options[2:]
            if len(words) > 1 or (words and words[0] not in _VERBS):
                return "reply", _reply, [*options, "--", name, " ".join(words)]
            args = [*(words or ["show"]), name, *options]
        return super().resolve_command(ctx, args)


def _answered_here(door: Door, folder: str, typed: str) -> int:
    """Answer the question that the user named; a yes to this conversation's draft turns plan mode off."""
    first, _, rest = typed.partition(" ")
    verb = first.casefold().strip(",.:;!")
    name, _, words = (rest.strip() if verb in _SAID else typed).partition(" ")
    name = name.rstrip(",.:;")
    verb = verb if verb in _SAID else "yes" if not words else ""
    if verb == "show":
        return _show(door, name)
    reply = _read(door, name, words, verb)
    code = _answer(door, name, reply)
    if isinstance(reply, No | Later) or not is_bound(folder):
        return code
    from asbuilt.cli.commands.author.in_conversation import go_on  # noqa: PLC0415  the door's dispatch

    return go_on(door)


group = _Inbox(
    "approve",
    commands={
        "yes": Lazy("approve.command:yes", "answer a question with yes"),
        "no": Lazy("approve.command:no", "answer a question with no, and say why"),
        "later": Lazy("approve.command:later", "leave a question open, and say so"),
        "pr": Lazy("approve.reviewers:command", "put a plan to reviewers as a pull request"),
        "show": Lazy("approve.command:show", "one question, whole; a plan on one screen"),
    },
    examples=[
        ("asbuilt approve", "everything that waits for you here"),
        ("asbuilt approve --all", "in every repository of this journal, shared ones too"),
        ("asbuilt approve a1", "a plan on one screen, and what changed since the last text"),
        ("asbuilt approve a1 b", "answer a question with option b"),
        ('asbuilt approve a7 "no, bring the test back"', "an answer in a sentence"),
        ("asbuilt approve yes a7", "yes; for a run in the list: land it"),
        ('asbuilt approve no a7 -m "not before the release"', "no, with a reason"),
        ("asbuilt approve pr a1", "a plan as a pull request; its reviewers decide"),
    ],
    help="Answer questions, approve plans and confirm landings. Every answer is recorded with your name.",
    params=[
        click.Option(["--all", "everywhere"], is_flag=True, help="in every repository of this journal"),
        click.Option(["--here"], is_flag=True, help="do what you typed after /asbuilt:approve"),
    ],
    alone=_alone,
)


def _read(door: Door, name: str, words: str, verb: str = "", *, is_remark: bool = False) -> Answered | Later:
    """Read words behind a name, or behind a verb and a name; raise if they are no answer to the question.

    `is_remark`: they are the -m of a yes. They answer a question of an agent, and qualify any other yes.
    """
    asked, shown = None, name
    if _to_land(door, name) is None:
        site, number = inbox.question_at(door, name)
        asked = inbox.question_in(site, number)
        shown = f"{site.lead}{asked.name}"
    is_open = asked is not None and asked.kind == "question" and verb in ("", "yes") and bool(words)
    if is_remark and not is_open:
        return Yes(words)
    text = words if is_open else ", ".join(filter(None, (verb, words)))
    reply = reply_in(text) if asked is None else reply_to(asked.kind, asked.question, text)
    if isinstance(reply, Unclear):
        raise unclear(shown, asked, words, reply.reason)
    return reply


def _may_be_yes(site: Site, asked: Approval, note: str) -> None:
    """Refuse a yes to a waiver without a reason, and a yes with a remark that says no."""
    name = f"{site.lead}{asked.name}"
    if asked.answer is None and asked.kind == "waiver" and not note.strip():
        raise UsageWrong(
            f"{asked.name} asks for a waiver, and a waiver needs a reason",
            why="The reason is shown in the report, in the commit and in the plan.",
            next_step=f'`asbuilt approve yes {name} -m "why"`',
        )
    if asked.answer is None and isinstance(reply_to(asked.kind, asked.question, note), No | Later):
        raise UsageWrong(
            f'the answer to {asked.name} is yes, and its remark says no: "{note}"',
            why="An answer is recorded with your name, so asbuilt does not guess. Nothing was recorded.",
            next_step=f"`asbuilt approve no {name} -m {as_typed(note)}`",
        )


def _to_land(door: Door, name: str) -> Run | None:
    """Return the proven run that a name means: its own, or that of a plan which asks nothing else."""
    if _QUESTION.fullmatch(name):
        return None
    runs = inbox.landing_here(door)
    of_plan = [run for run in runs if run.options.slug == name]
    asks = of_plan and any(wait.asked.plan == of_plan[0].plan for wait in inbox.waiting_here(door))
    alone = of_plan if len(of_plan) == 1 and not asks else []
    return next((run for run in runs if run.name == name), None) or next(iter(alone), None)


def _answer(door: Door, name: str, reply: Answered | Later) -> int:
    if isinstance(reply, Later):
        return _put_off(door, name)
    run = _to_land(door, name)
    if run is not None and isinstance(reply, Yes):
        return land(door, run.options.slug)
    if run is not None:
        return _declined(door, run, recorded(reply)[1] or "")
    site, number = inbox.question_at(door, name)
    if isinstance(reply, Yes):
        _may_be_yes(site, inbox.question_in(site, number), reply.note)
    given = give(door, site, number, reply)
    code = given.code(recorded(reply)[0])
    data = {**_json(given.asked, inbox.asker_of(site, given.asked)), "counts": given.counts, "exit": code}
    if door.emitted("asbuilt.answer/1", data):
        return code
    outcome = result_of(site, given, door.screen.out)
    door.screen.answer_all(outcome.rows)
    outcome.show_next(door, site)
    return code


def _declined(door: Door, run: Run, note: str) -> int:
    """Record that the user does not land what a run has proven."""
    decline(inbox.here(door, run.name).journal.store, run, note=note, asker=asker(door))
    slug = run.options.slug
    if not door.emitted("asbuilt.answer/1", {"run": run.name, "answer": "no", "note": note, "exit": DONE}):
        door.screen.answer(f"{run.name} is not landed; its commits are kept.")
        deciding_again(slug).show(door)
    return DONE


@subcommand(
    "yes",
    ("asbuilt approve yes a7", "continue the run"),
    ("asbuilt approve yes a1 --edit", "change the plan in $EDITOR first; your text is what is approved"),
)
@click.argument("question")
@click.option("-m", "--message", metavar="TEXT", help="a remark, for the journal")
@click.option("--edit", "is_edited", is_flag=True, help="change the plan in $VISUAL or $EDITOR first")
def yes(door: Door, question: str, *, message: str | None, is_edited: bool) -> int:
    """Answer a question with yes; of a plan, a yes covers the very text that was shown."""
    if not is_edited:
        return _answer(door, question, _read(door, question, message or "", "yes", is_remark=True))
    if not door.is_attended:
        raise UsageWrong(
            "--edit needs a terminal",
            why="An editor needs a user at the terminal.",
            next_step=f'`asbuilt approve no {question} -m "what to change"`',
        )
    site, asked = plan_question(door, question)
    if asked.answer is not None:
        return _answer(door, question, Yes())
    now = edited(door, site, asked)
    draft = draft_of(site, now)
    if not agreed(door, f"Approve revision {draft.revision.number}, {draft.brief}?"):
        door.screen.answer(f"{now.name} still waits for an answer.")
        return DONE
    return _answer(door, f"{site.lead}{now.name}", Yes(message or ""))


@subcommand("no", ('asbuilt approve no a7 -m "not yet"', "end it, with a reason"))
@click.argument("question")
@click.option("-m", "--message", metavar="TEXT", help="why; the author of a plan gets these words")
def no(door: Door, question: str, *, message: str | None) -> int:
    """Answer a question with no: a run ends, all work kept; a plan's author changes it by what you say."""
    return _answer(door, question, No(message or ""))


@subcommand("reply", ('asbuilt approve a7 "no, bring the test back"', "an answer in one sentence"))
@click.argument("question")
@click.argument("words")
@click.option("-m", "--message", metavar="TEXT", help="a remark, for the journal")
def _reply(door: Door, question: str, words: str, *, message: str | None) -> int:
    """Answer a question in words: yes or no with a remark; an option by letter or name, or your own words."""
    text = words if message is None else f"{words}, {message}"
    return _answer(door, question, _read(door, question, text))


@subcommand("later", ("asbuilt approve later a7", "it waits; others see that you know"))
@click.argument("question")
def later(door: Door, question: str) -> int:
    """Leave a question open. It waits for as long as it takes: no agent works, nothing is lost."""
    return _put_off(door, question)


def _put_off(door: Door, question: str) -> int:
    site, number = inbox.question_at(door, question)
    asked = put_off(site.journal.store, LOCAL, site.repo, number, asker=asker(door))
    words = f"{asked.name} still waits for an answer."
    if asked.answer is not None:
        words = f"{asked.name} was already answered: {asked.answer}, by {asked.answered_by}."
    if not door.emitted("asbuilt.approval/1", _json(asked, inbox.asker_of(site, asked))):
        door.screen.answer(printable(words))
    return DONE


@subcommand(
    "show",
    ("asbuilt approve show a7", "who asks what, since when"),
    ("asbuilt approve show a1 --full", "the whole text of a plan"),
)
@click.argument("question")
@click.option("--full", is_flag=True, help="of a plan: its whole text")
def show(door: Door, question: str, *, full: bool) -> int:
    """Show one question, whole: a plan on one screen, with what differs from the text before."""
    return _show(door, question, full=full)


def _show(door: Door, question: str, *, full: bool = False) -> int:
    if _to_land(door, question) is not None:
        raise UsageWrong(
            f"{question} is a proven run, not a question",
            why="Its report shows what would land.",
            next_step=f"`asbuilt report {question}`",
        )
    site, number = inbox.question_at(door, question)
    found = inbox.question_in(site, number)
    draft = draft_of(site, found) if found.kind == "plan" else None
    draft_data = {"draft": as_json(door, site, draft)} if door.json and draft else {}
    if door.emitted("asbuilt.approval/1", {**_json(found, inbox.asker_of(site, found)), **draft_data}):
        return DONE
    if draft is None:
        door.screen.answer(printable(f"{found.name}   {found.kind}   {found.plan}"))
        door.screen.answer_all(
            door.screen.out.hanging("  ", found.question.partition("\n")[0], commands=False)
        )
        door.screen.answer_all(below(door.screen.out, found))
    elif full:
        door.screen.answer_all(map(printable, draft.plan.source.lines))
        return DONE
    else:
        door.screen.answer_all(screen_of(door, site, found, draft, door.screen.out))
    state = f"answered {found.answer} by {found.answered_by}" if found.answer else "not answered"
    now = datetime.now(UTC)
    door.screen.answer(printable(f"  asked {ago(found.asked_at, now)} ago; {state}"))
    if found.answer is None:
        reviewed = _reviewed(site, found, now)
        answer(door, "  ", reviewed) if reviewed else ()
        _print_next(door, found, f"{site.lead}{found.name}")
    return DONE


def _reviewed(site: Site, found: Approval, now: datetime) -> str:
    with site.journal.store.read() as session:
        review = reviews.find(session, Address(LOCAL, site.repo, found.plan))
    return under_review(review, found, now)


def _print_next(door: Door, asked: Approval, name: str) -> None:
    if asked.kind == "question":
        first = next(iter(options_of(asked.question)), "a")
        next_command(
            door,
            f"asbuilt approve yes {name} -m {first}",
            other=f'in your own words: `asbuilt approve {name} "your answer"`',
        )
        return
    if asked.kind == "plan":
        edit = f"edit it first: `asbuilt approve yes {name} --edit`"
        next_command(door, f"asbuilt approve yes {name}", other=edit)
    else:
        answering(asked, name).show(door)
