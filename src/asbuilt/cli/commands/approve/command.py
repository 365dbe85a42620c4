"""`asbuilt approve`: list and answer everything that waits for the user. An answer counts once."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from asbuilt.cli.runs.decisions import edited, give, told_of
from asbuilt.cli.runs.drafts import as_json, draft_of, screen_of
from asbuilt.cli.runs.inbox import (
    asker_of,
    landing_here,
    question_at,
    question_in,
    waiting_everywhere,
    waiting_here,
)
from asbuilt.cli.runs.waiting import answering, under_review
from asbuilt.cli.shell.desk import next_command
from asbuilt.cli.shell.lazy import Command, Lazy, LazyGroup
from asbuilt.cli.shell.options import Door, door_of, shared
from asbuilt.cli.shell.site import asker
from asbuilt.cli.ui.clock import ago, at, stamp
from asbuilt.cli.ui.columns import pad, shorten, width
from asbuilt.cli.ui.confirm import agreed
from asbuilt.cli.ui.questions import below, is_slip
from asbuilt.cli.ui.screen import printable
from asbuilt.errors import DONE, UsageWrong
from asbuilt.flows.requests import put_off
from asbuilt.journal import approvals, reviews
from asbuilt.journal.ids import LOCAL, Address
from asbuilt.lifecycle.authoring.questions import options_of

if TYPE_CHECKING:
    from asbuilt.cli.runs.decisions import Said
    from asbuilt.cli.runs.inbox import Waits
    from asbuilt.cli.shell.site import Site
    from asbuilt.journal.approvals import Approval
    from asbuilt.journal.runs import Run


def _list(door: Door, *, everywhere: bool) -> int:
    asked = waiting_everywhere(door) if everywhere else waiting_here(door)
    proven = [] if everywhere else landing_here(door)
    if door.json:
        rows = [{**_json(one.asked, one.run), "id": one.name} for one in asked]
        told = [
            {"plan": run.plan, "run": _name(run), "ended_at": stamp(run.ended_at or run.at)} for run in proven
        ]
        door.screen.emit_json({"schema": "asbuilt.approvals/1", "waiting": rows, "to_land": told})
        return DONE
    if asked:
        _show_asked(door, asked)
    for run in proven:
        since = at(run.ended_at or run.at, datetime.now(UTC))
        words = f"{_name(run)} is proven since {since}, not landed: `asbuilt land {run.options.slug}`"
        for row in door.screen.out.hanging("", printable(words)):
            door.screen.answer(row)
    if not asked and not proven:
        door.screen.answer("Nothing waits for you." if everywhere else "Nothing waits for you here.")
    return DONE


def _name(run: Run) -> str:
    return f"{run.options.slug}.{run.number}"


def _show_asked(door: Door, asked: list[Waits]) -> None:
    now, symbols = datetime.now(UTC), door.screen.out.symbols
    wide = max(5, *(width(one.name) + 2 for one in asked))
    room = max(12, 47 - wide)
    door.screen.answer(f"  {'ID':<{wide}}{'KIND':<10}{'ABOUT':<{room}}{'FROM':<14}{'AGE':>7}")
    for name, run, one in asked:
        about = pad(shorten(printable(one.gist), room - 1, symbols), room)
        row = f"  {pad(name, wide)}{one.kind:<10}{about}{shorten(run, 13, symbols):<14}"
        door.screen.answer(printable(f"{row}{ago(one.asked_at, now):>7}"))
    name = asked[0].name
    next_command(door, answering(asked[0].asked, name), f', or `asbuilt approve no {name} -m "why"`')


def _json(one: Approval, run: str) -> dict[str, Any]:
    return {
        "id": one.name,
        "kind": one.kind,
        "question": one.question,
        "plan": one.plan,
        "run": run,
        "phase": one.phase,
        "asked_at": stamp(one.asked_at),
        "answer": one.answer,
        "answered_by": one.answered_by,
        "note": one.note,
    }


def _callback(context: click.Context) -> int | None:
    if context.invoked_subcommand:
        return None
    return _list(door_of(context, json=True), everywhere=bool(context.params["everywhere"]))


group = LazyGroup(
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
        ("asbuilt approve show a1", "a plan on one screen, and what differs from the text before"),
        ("asbuilt approve pr a1", "a plan as a pull request; its reviewers decide"),
        ("asbuilt approve yes a7", "let it go on"),
        ('asbuilt approve no a7 -m "not before the release"', "end it, with a reason"),
    ],
    help="Answer what waits for a person. Every answer counts once and is recorded with your name.",
    params=[click.Option(["--all", "everywhere"], is_flag=True, help="in every repository of this journal")],
    callback=click.pass_context(lambda context, **_: _callback(context)),
    invoke_without_command=True,
)


def _need_no_reason(site: Site, number: int) -> None:
    """Refuse to approve a waiver without a reason. The report, the commit and the plan show the reason."""
    with site.journal.store.read() as session:
        asked = approvals.named(session, LOCAL, site.repo, number)
    if asked is not None and asked.kind == "waiver" and asked.answer is None:
        raise UsageWrong(
            f"{asked.name} asks for a waiver, and a waiver has a reason",
            why="It is shown in the report, in the commit and in the plan.",
            next_step=f'Say why: asbuilt approve yes {asked.name} -m "why"',
        )


def _need_an_option(site: Site, number: int, note: str) -> None:
    """Refuse a letter that names no option; the agent would read it as an answer in words."""
    asked = question_in(site, number)
    if asked.answer is None and is_slip(asked, note):
        raise UsageWrong(
            f"{asked.name} has no option {note.strip()}: {', '.join(options_of(asked.question))}",
            why="A letter means one of the options; nothing was answered.",
            next_step=f"`asbuilt approve show {site.lead}{asked.name}`",
        )


def _say(door: Door, name: str, said: Said, note: str | None) -> int:
    site, number = question_at(door, name)
    if said == "yes" and not (note or "").strip():
        _need_no_reason(site, number)
    if said == "yes":
        _need_an_option(site, number, note or "")
    given = give(door, site, number, said, note)
    code = given.code(said)
    if door.json:
        answer = {**_json(given.asked, asker_of(site, given.asked)), "counts": given.counts, "exit": code}
        door.screen.emit_json({"schema": "asbuilt.answer/1", **answer})
        return code
    told = told_of(site, given, door.screen.out)
    for row in told.rows:
        door.screen.answer(row)
    if told.command:
        next_command(door, told.command)
    return code


@click.command(
    "yes",
    cls=Command,
    examples=[
        ("asbuilt approve yes a7", "let it go on"),
        ("asbuilt approve yes a1 --edit", "change the plan in $EDITOR first; your text is what is approved"),
    ],
)
@click.argument("question")
@click.option("-m", "--message", metavar="TEXT", help="a remark, for the journal")
@click.option("--edit", "is_edited", is_flag=True, help="change the plan in $VISUAL or $EDITOR first")
@shared(json=True)
def yes(door: Door, question: str, *, message: str | None, is_edited: bool) -> int:
    """Answer a question with yes; of a plan, a yes covers the very text that was shown."""
    if not is_edited:
        return _say(door, question, "yes", message)
    if not door.may_ask or door.json:
        raise UsageWrong(
            "--edit needs a terminal",
            why="An editor without anybody in front of it would wait for ever.",
            next_step='Say what is to differ: `asbuilt approve no a1 -m "why"`',
        )
    site, number = question_at(door, question)
    asked = question_in(site, number)
    if asked.kind != "plan":
        raise UsageWrong(
            f"{asked.name} is not about a plan: {asked.gist}",
            why="Only a plan has a text that can be changed before it is approved.",
            next_step=f"`asbuilt approve show {site.lead}{asked.name}`",
        )
    if asked.answer is not None:
        return _say(door, question, "yes", message)
    now = edited(door, site, asked)
    draft = draft_of(site, now)
    if not agreed(door, f"Approve revision {draft.revision.number}, {draft.brief}?"):
        door.screen.answer(f"{now.name} waits; nothing goes on before somebody answers.")
        return DONE
    return _say(door, f"{site.lead}{now.name}", "yes", message)


@click.command("no", cls=Command, examples=[('asbuilt approve no a7 -m "not yet"', "end it, with a reason")])
@click.argument("question")
@click.option("-m", "--message", metavar="TEXT", help="why; the author of a plan gets these words")
@shared(json=True)
def no(door: Door, question: str, *, message: str | None) -> int:
    """Answer a question with no: a run ends, all work kept; a plan's author changes it by what you say."""
    return _say(door, question, "no", message)


@click.command(
    "later", cls=Command, examples=[("asbuilt approve later a7", "it waits; others see that you know")]
)
@click.argument("question")
@shared(json=True)
def later(door: Door, question: str) -> int:
    """Leave a question open. It waits for as long as it takes: no agent works, nothing is lost."""
    site, number = question_at(door, question)
    asked = put_off(site.journal.store, LOCAL, site.repo, number, asker=asker(door))
    if door.json:
        door.screen.emit_json({"schema": "asbuilt.approval/1", **_json(asked, asker_of(site, asked))})
    elif asked.answer is None:
        door.screen.answer(f"{asked.name} waits; nothing goes on before somebody answers.")
    else:
        said = f"{asked.name} was answered before: {asked.answer}, by {asked.answered_by}."
        door.screen.answer(printable(said))
    return DONE


@click.command(
    "show",
    cls=Command,
    examples=[
        ("asbuilt approve show a7", "who asks what, since when"),
        ("asbuilt approve show a1 --full", "the whole text of a plan"),
    ],
)
@click.argument("question")
@click.option("--full", is_flag=True, help="of a plan: its whole text")
@shared(json=True)
def show(door: Door, question: str, *, full: bool) -> int:
    """Show one question, whole: a plan on one screen, with what differs from the text before."""
    site, number = question_at(door, question)
    found = question_in(site, number)
    draft = draft_of(site, found) if found.kind == "plan" else None
    if door.json:
        told = {} if draft is None else {"draft": as_json(door, site, draft)}
        door.screen.emit_json({"schema": "asbuilt.approval/1", **_json(found, asker_of(site, found)), **told})
        return DONE
    if draft is None:
        _show_question(door, found)
    elif full:
        for line in draft.plan.source.lines:
            door.screen.answer(printable(line))
        return DONE
    else:
        for row in screen_of(door, site, found, draft, door.screen.out):
            door.screen.answer(row)
    state = f"answered {found.answer} by {found.answered_by}" if found.answer else "not answered"
    now = datetime.now(UTC)
    door.screen.answer(printable(f"  asked {ago(found.asked_at, now)} ago; {state}"))
    if found.answer is None:
        reviewed = _reviewed(site, found, now)
        for row in door.screen.out.hanging("  ", reviewed, commands=False) if reviewed else ():
            door.screen.answer(row)
        _say_how(door, found, f"{site.lead}{found.name}")
    return DONE


def _reviewed(site: Site, found: Approval, now: datetime) -> str:
    with site.journal.store.read() as session:
        review = reviews.find(session, Address(LOCAL, site.repo, found.plan))
    return under_review(review, found, now)


def _say_how(door: Door, asked: Approval, name: str) -> None:
    """Print how to answer a question."""
    if asked.kind == "question":
        first = next(iter(options_of(asked.question)), "a")
        next_command(door, f"asbuilt approve yes {name} -m {first}", ", or in your own words")
        return
    edits = ", or with `--edit`;" if asked.kind == "plan" else ", or"
    next_command(door, f"asbuilt approve yes {name}", f'{edits} `asbuilt approve no {name} -m "why"`')


def _show_question(door: Door, found: Approval) -> None:
    door.screen.answer(printable(f"{found.name}   {found.kind}   {found.plan}"))
    for row in door.screen.out.hanging("  ", found.question.partition("\n")[0]):
        door.screen.answer(row)
    for row in below(door.screen.out, found):
        door.screen.answer(row)
