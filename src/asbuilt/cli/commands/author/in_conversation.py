"""Author a plan in the Claude Code conversation around a command: start, continue, show, cancel.

Rule: what is due comes from the journal, so that another conversation can continue.
"""

from __future__ import annotations

import re
import shlex
import time
from datetime import UTC, datetime
from typing import Final, assert_never

import click

from asbuilt import wiring
from asbuilt.cli.commands.plan_mode import begun
from asbuilt.cli.runs.next_step import Next
from asbuilt.cli.runs.waiting import run_waiting
from asbuilt.cli.shell.addresses import is_served
from asbuilt.cli.shell.options import Door
from asbuilt.cli.shell.read_context import Seen
from asbuilt.cli.shell.run_context import Site, asker, look_at
from asbuilt.cli.ui.messages import answer, next_command
from asbuilt.cli.ui.screen import printable
from asbuilt.cli.ui.words import listed
from asbuilt.errors import DONE, GateStopped, NotFound
from asbuilt.flows.authoring.conversation import Conversing
from asbuilt.flows.authoring.perform import sketch_file
from asbuilt.flows.requests import stop
from asbuilt.journal import approvals
from asbuilt.journal.runs import Run
from asbuilt.lifecycle.authoring.stage_machine import APPROVAL
from asbuilt.lifecycle.authoring.turns import Over, Persons, Theirs, Yours
from asbuilt.policy.plan_mode.state import HoldUnreadable
from asbuilt.session.authoring_binding import NEXT, WORK, Bound, BoundUnreadable, bind, bound_in, put_aside
from asbuilt.session.context.command_arguments import take_typed
from asbuilt.session.conversation import end_hold, folder_of, hold_in, keep_hold, key_of, lives
from asbuilt.session.conversation_lock import Locked
from asbuilt.session.conversations import records

_PATIENCE_S: Final = 100.0
"""Seconds to wait. Claude Code ends a command after two minutes; longer work needs another call."""
_LOOK_S: Final = 0.3
_SCHEMA: Final = "asbuilt.authoring/1"
_NOTHING: Final = "No plan is being authored here."
_OPTION: Final = re.compile(r"(?:^|\s)(?=--[a-z])")


def conversation_around(door: Door) -> str:
    """Return the folder of the conversation in which a command is called."""
    key = key_of(door.environ)
    if key and lives(key):
        return folder_of(door.environ, key)
    raise NotFound(
        "this command does not run inside a Claude Code conversation",
        why="Only Claude Code's hooks can keep a conversation in the stages of a plan.",
        next_step='`asbuilt author "what you want" --staged`',
    )


def typed(command: click.Command, context: click.Context, folder: str) -> list[str]:
    """Return what the user typed after /asbuilt:author as arguments; the prompt stays one word.

    Options come last. Text that only looks like an option is part of the prompt.
    """
    words = take_typed(folder, "author") or ""
    for found in _OPTION.finditer(words):
        try:
            options = shlex.split(words[found.end() :])
            parsed, _, _ = command.make_parser(context).parse_args(list(options))
        except (ValueError, click.UsageError):
            continue
        if not isinstance(parsed.get("prompt"), tuple):
            return [*options, "--", *filter(None, [words[: found.start()].strip()])]
    return ["--", words] if words else []


def begin(door: Door, site: Site, run: Run) -> int:
    """Bind a new authoring to the conversation, turn plan mode on, and print what is due first."""
    return _go_on(door, site, conversation_around(door), _bound_to(site, run))


def go_on(door: Door) -> int:
    """Print what is due in this conversation's authoring, or take over one whose conversation has ended."""
    folder = conversation_around(door)
    try:
        bound = bound_in(folder)
    except BoundUnreadable:
        put_aside(folder)
        bound = None
    _, site = look_at(door)
    run = authored_in(site) if site else None
    if site is not None and run is None and bound is not None:
        # The worker has ended it, perhaps since the user's answer a moment ago.
        return _go_on(door, site, folder, bound)
    if site is None or run is None:
        answer(door, "", _NOTHING)
        next_command(door, "asbuilt status")
        return DONE
    if not run.options.is_in_conversation:
        answer(door, f"{run.options.slug}   ", f"{_place(door, site, run)}. A worker authors it.")
        next_command(door, f"asbuilt watch {run.options.slug}")
        return DONE
    if bound is None or bound.run != run.run:
        _need_alone(door, run)
        bound = _bound_to(site, run)._replace(is_new=True)
    return _go_on(door, site, folder, bound)


def show(door: Door) -> int:
    """Print which plan is authored here, its stage, and what it waits for."""
    authored = _authored(door)
    if authored is None:
        if not door.emitted(_SCHEMA, {"active": False}):
            answer(door, "", _NOTHING)
        return DONE
    site, run = authored
    authoring, options = _opened(door, site, run), run.options
    sketch = sketch_file(site.journal.home, run.run)
    place = authoring.place or "its beginning"
    with site.journal.store.read() as session:
        waiting = approvals.waiting_of(session, run.org, run.repo, run.run)
    asked = [approval.name for approval in waiting]
    draft = next((approval.name for approval in waiting if approval.kind == "plan"), "")
    # A critic's last round may leave the session at a stage although its draft is complete.
    place = APPROVAL if draft else place
    details = {
        "plan": run.plan,
        "run": run.name,
        "mode": options.how_authored.mode,
        "in_conversation": options.is_in_conversation,
        # Planning is read-only in every mode.
        "block_tools": True,
        "place": place,
        "questions": asked,
        "plan_so_far": str(sketch) if sketch.exists() else None,
    }
    if door.emitted(_SCHEMA, {**authoring.state, **details}):
        return DONE
    if draft:
        answer(door, f"{options.slug}   ", f"The draft waits for your approval ({draft}).")
    else:
        answer(door, f"{options.slug}   ", place)
        if asked:
            answer(door, "waits   ", f"for your answer to {listed(asked)}")
        if sketch.exists():
            door.screen.answer(printable(f"so far  {sketch}"))
    following(site, run).show(door)
    return DONE


def following(site: Site, run: Run) -> Next:
    """Return the next command for an open authoring: it continues the session if no worker is alive."""
    return run_waiting(site.view(run), Seen(datetime.now(UTC), is_served=is_served(site.journal))).next


def cancel(door: Door) -> int:
    """Cancel the authoring of this checkout, and print its stage. Accepted results stay in the journal."""
    authored = _authored(door)
    if authored is None:
        if not door.emitted(_SCHEMA, {"active": False, "cancelled": None}):
            answer(door, "", f"{_NOTHING} There is nothing to cancel.")
        return DONE
    site, run = authored
    where = _place(door, site, run)
    stop(site.journal.store, run, reason="cancelled", asker=asker(door))
    wiring.ensure_worker(site.journal.home, door.environ)
    for folder in _folders(door, run):
        bind(folder, None)
        end_hold(folder)
    if door.emitted(_SCHEMA, {"active": False, "cancelled": run.plan, "place": where}):
        return DONE
    answer(door, f"{run.options.slug}   ", f"Cancelled at {where}. Accepted outputs are kept.")
    next_command(door, f"asbuilt run {run.options.slug}")
    return DONE


def _authored(door: Door) -> tuple[Site, Run] | None:
    _, site = look_at(door)
    run = authored_in(site) if site else None
    return (site, run) if site and run else None


def authored_in(site: Site) -> Run | None:
    """Return the open authoring of a checkout."""
    here = str(site.repository.root)
    authored = (run for run in site.open_runs() if run.options.kind == "author")
    return next((run for run in authored if run.options.checkout == here), None)


def _bound_to(site: Site, run: Run) -> Bound:
    file = ""
    if run.options.how_authored.mode == "interview":
        sketch = sketch_file(site.journal.home, run.run)
        sketch.parent.mkdir(parents=True, exist_ok=True)
        file = str(sketch)
    return Bound(run.run, run.repo, str(site.repository.root), run.options.slug, file=file)


def _opened(door: Door, site: Site, run: Run) -> Conversing:
    return wiring.conversing(str(site.repository.root), door.environ, repo=run.repo, run=run.run)


def _place(door: Door, site: Site, run: Run) -> str:
    return _opened(door, site, run).place or "its beginning"


def _folders(door: Door, run: Run) -> list[str]:
    found = []
    for line in (
        folder_of(door.environ, key_of(door.environ)),
        *(record.folder for record in records(door.environ)),
    ):
        try:
            bound = bound_in(line)
        except BoundUnreadable:
            continue
        if bound is not None and bound.run == run.run and line not in found:
            found.append(line)
    return found


def _need_alone(door: Door, run: Run) -> None:
    for folder in _folders(door, run):
        if lives(folder.rpartition("/")[2]):
            raise GateStopped(
                f"{run.options.slug} is authored in another conversation",
                why="Two conversations would submit outputs of the same stage.",
                next_step="`asbuilt author cancel` ends it; or continue there.",
            )
        bind(folder, None)


def _go_on(door: Door, site: Site, folder: str, bound: Bound) -> int:
    """Turn plan mode on unless it is over, wait until it is not a worker's turn, and print what is due."""
    authoring = wiring.conversing(bound.root, door.environ, repo=bound.repo, run=bound.run)
    with Locked(folder):
        if not isinstance(authoring.turn, Over):
            _hold(door, folder, bound)
        bind(folder, bound._replace(asked="", stops=0))
    until = time.monotonic() + _PATIENCE_S
    while isinstance(turn := authoring.turn, Theirs) and time.monotonic() < until:
        wiring.ensure_worker(site.journal.home, door.environ)
        time.sleep(_LOOK_S)
    match turn:
        case Yours():
            with Locked(folder):
                bind(folder, bound._replace(asked=turn.name, stops=0, is_new=False))
            _answer(door, authoring.asked(begins=True, is_new=bound.is_new, file=bound.file))
        case Theirs(what):
            _answer(door, f"{bound.slug}: another process still works on {what}. Run `{NEXT}` again.")
        case Persons(why, question):
            _answer(door, _approval(bound.slug, why, question))
        case Over(reason, is_approved):
            with Locked(folder):
                bind(folder, None)
                off = WORK if is_approved and end_hold(folder) else ""
            _answer(door, f"The authoring of {bound.slug} is over: {reason}.{off}")
        case _:
            assert_never(turn)
    return DONE


def _approval(slug: str, why: str, name: str) -> str:
    if not name:
        return f"{slug} waits for the user: {why}. Tell them, and end your turn."
    return (
        f"The draft of {slug} waits for the user's approval as {name}. Say so, and end your turn. The user"
        f" types /asbuilt:approve {name} here (or `asbuilt approve yes {name}` at a terminal): that turns"
        f" plan mode off, and work may start. /asbuilt:approve no {name} WHY sends the draft back; then"
        f" `{NEXT}` says what to change."
    )


def _hold(door: Door, folder: str, bound: Bound) -> None:
    """Turn plan mode on. Only the plan that an interview grows may be written."""
    try:
        if hold_in(folder) is None:
            keep_hold(folder, begun(door).changed(plans=(bound.file,) if bound.file else ()))
    except HoldUnreadable:
        # With an unreadable hold the gate refuses everything, and only the user can end that.
        return


def _answer(door: Door, text: str) -> None:
    """Print a text without wrapping, because an agent reads it."""
    door.screen.answer_all(printable(text, lines=True).split("\n"))
