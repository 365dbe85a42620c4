"""`asbuilt approve`: everything that waits for a person, and the way to answer. An answer counts once."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

import click

from asbuilt import wiring
from asbuilt.cli.clock import ago, stamp
from asbuilt.cli.commands import Command, Lazy, LazyGroup
from asbuilt.cli.options import Door, door_of, shared
from asbuilt.cli.plan.desk import next_command
from asbuilt.cli.screen import printable
from asbuilt.cli.site import Site, asker, look_at
from asbuilt.errors import DONE, GATE_STOPPED, NotFound, UsageWrong
from asbuilt.flows.requests import answer
from asbuilt.journal import approvals, runs
from asbuilt.journal.ids import LOCAL

if TYPE_CHECKING:
    from asbuilt.journal.approvals import Approval


def _list(door: Door) -> int:
    _, site = look_at(door)
    asked: list[Approval] = []
    names: dict[str, str] = {}
    if site is not None:
        with site.journal.store.read() as session:
            asked = approvals.waiting(session, LOCAL, site.repo)
            for one in asked:
                run = runs.find(session, LOCAL, site.repo, one.run)
                names[one.run] = f"{run.options['slug']}.{run.number}" if run else one.run
    if door.json:
        rows = [_json(one, names) for one in asked]
        door.screen.emit_json({"schema": "asbuilt.approvals/1", "waiting": rows})
        return DONE
    if not asked:
        door.screen.answer("Nothing waits for you here.")
        return DONE
    now = datetime.now(UTC)
    door.screen.answer(f"  {'ID':<5}{'KIND':<10}{'ABOUT':<42}{'FROM':<14}{'AGE':>7}")
    for one in asked:
        text = printable(one.question)
        about = text if len(text) <= 41 else text[:40] + door.screen.out.symbols.ellipsis
        row = f"  {one.name:<5}{one.kind:<10}{about:<42}{names[one.run]:<14}{ago(one.asked_at, now):>7}"
        door.screen.answer(printable(row))
    next_command(
        door, f"asbuilt approve yes {asked[0].name}", f', or `asbuilt approve no {asked[0].name} -m "why"`'
    )
    return DONE


def _json(one: Approval, names: dict[str, str]) -> dict[str, Any]:
    return {
        "id": one.name,
        "kind": one.kind,
        "question": one.question,
        "plan": one.plan,
        "run": names.get(one.run, one.run),
        "phase": one.phase,
        "asked_at": stamp(one.asked_at),
        "answer": one.answer,
    }


def _callback(context: click.Context) -> int | None:
    return None if context.invoked_subcommand else _list(door_of(context, json=True))


group = LazyGroup(
    "approve",
    commands={
        "yes": Lazy("asbuilt.cli.approve:yes", "answer a question with yes"),
        "no": Lazy("asbuilt.cli.approve:no", "answer a question with no, and say why"),
        "show": Lazy("asbuilt.cli.approve:show", "one question, whole"),
    },
    examples=[
        ("asbuilt approve", "everything that waits for you here"),
        ("asbuilt approve yes a7", "let it go on"),
        ('asbuilt approve no a7 -m "not before the release"', "end it, with a reason"),
    ],
    help="Answer what waits for a person. Every answer counts once and is recorded with your name.",
    callback=click.pass_context(lambda context, **_: _callback(context)),
    invoke_without_command=True,
)


def _number(name: str) -> int:
    text = name.removeprefix("a")
    if not text.isascii() or not text.isdigit():
        raise UsageWrong(
            f"{name} is not the name of a question",
            why="Questions are called a1, a2 and so on.",
            next_step="`asbuilt approve` lists what waits for you.",
        )
    return int(text)


def _site(door: Door, name: str) -> Site:
    _, site = look_at(door)
    if site is None:
        raise NotFound(
            f"there is no question {name} here",
            why="Nothing has been run in this repository.",
            next_step="`asbuilt plan list` shows what could be.",
        )
    return site


def _need_no_reason(site: Site, number: int) -> None:
    """Refuse to waive without a reason: whoever reads the report, the commit or the plan is owed one."""
    with site.journal.store.read() as session:
        asked = approvals.named(session, LOCAL, site.repo, number)
    if asked is not None and asked.kind == "waiver" and asked.answer is None:
        raise UsageWrong(
            f"{asked.name} asks for a waiver, and a waiver has a reason",
            why="It is shown in the report, in the commit and in the plan.",
            next_step=f'Say why: asbuilt approve yes {asked.name} -m "why"',
        )


def _say(door: Door, name: str, said: Literal["yes", "no"], note: str | None) -> int:
    number = _number(name)
    site = _site(door, name)
    if said == "yes" and not (note or "").strip():
        _need_no_reason(site, number)
    counts, asked = answer(
        site.journal.store, LOCAL, site.repo, number, said=said, note=note, asker=asker(door)
    )
    if counts:
        wiring.ensure_worker(site.journal.home, door.environ)
    code = DONE if counts or asked.answer == said else GATE_STOPPED
    if door.json:
        door.screen.emit_json(
            {"schema": "asbuilt.answer/1", **_json(asked, {}), "counts": counts, "exit": code}
        )
        return code
    if counts:
        door.screen.answer(printable(f"{asked.name}: {said}. {asked.question}"))
    else:
        door.screen.answer(
            printable(f"{asked.name} was answered before: {asked.answer}, by {asked.answered_by}.")
        )
    return code


@click.command("yes", cls=Command, examples=[("asbuilt approve yes a7", "let it go on")])
@click.argument("question")
@click.option("-m", "--message", metavar="TEXT", help="a remark, for the journal")
@shared(json=True)
def yes(door: Door, question: str, *, message: str | None) -> int:
    """Answer a question with yes."""
    return _say(door, question, "yes", message)


@click.command("no", cls=Command, examples=[('asbuilt approve no a7 -m "not yet"', "end it, with a reason")])
@click.argument("question")
@click.option("-m", "--message", metavar="TEXT", help="why, for the journal")
@shared(json=True)
def no(door: Door, question: str, *, message: str | None) -> int:
    """Answer a question with no; the run ends, all work kept."""
    return _say(door, question, "no", message)


@click.command("show", cls=Command, examples=[("asbuilt approve show a7", "who asks what, since when")])
@click.argument("question")
@shared(json=True)
def show(door: Door, question: str) -> int:
    """Show one question, whole."""
    number = _number(question)
    site = _site(door, question)
    with site.journal.store.read() as session:
        found = approvals.named(session, LOCAL, site.repo, number)
    if found is None:
        raise NotFound(
            f"there is no question {question} here",
            why="Questions are numbered in each repository.",
            next_step="`asbuilt approve` lists what waits for you.",
        )
    if door.json:
        door.screen.emit_json({"schema": "asbuilt.approval/1", **_json(found, {})})
        return DONE
    door.screen.answer(printable(f"{found.name}   {found.kind}   {found.plan}"))
    for row in door.screen.out.hanging("  ", found.question):
        door.screen.answer(row)
    state = f"answered {found.answer} by {found.answered_by}" if found.answer else "not answered"
    door.screen.answer(printable(f"  asked {ago(found.asked_at, datetime.now(UTC))} ago; {state}"))
    return DONE
