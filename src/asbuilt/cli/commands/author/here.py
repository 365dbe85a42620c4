"""Author a plan in the Claude Code conversation around a command: start, continue, show, cancel.

Rule: what is due comes from the journal, so that another conversation can continue.
"""

from __future__ import annotations

import re
import shlex
import time
from typing import TYPE_CHECKING, Final, assert_never

import click

from asbuilt import wiring
from asbuilt.cli.commands.mode.change import begun
from asbuilt.cli.shell.site import asker, look_at
from asbuilt.cli.ui.messages import answer, next_command
from asbuilt.cli.ui.screen import printable
from asbuilt.errors import DONE, GateStopped, NotFound
from asbuilt.flows.requests import stop
from asbuilt.lifecycle.authoring.turns import Over, Persons, Theirs, Yours
from asbuilt.policy.plan_mode.hold import HoldUnreadable
from asbuilt.session.authoring import NEXT, Bound, BoundUnreadable, bind, bound_in, put_aside, take_words
from asbuilt.session.conversation import folder_of, hold_in, keep_hold, key_of, lives
from asbuilt.session.locking import Locked
from asbuilt.session.records import records

if TYPE_CHECKING:
    from asbuilt.cli.shell.options import Door
    from asbuilt.cli.shell.site import Site
    from asbuilt.journal.runs import Run

_PATIENCE_S: Final = 100.0
"""Seconds to wait. Claude Code ends a command after two minutes; longer work needs another call."""
_LOOK_S: Final = 0.3
_OPTION: Final = re.compile(r"(?:^|\s)(?=--[a-z])")


def conversation_around(door: Door) -> str:
    """Return the folder of the conversation in which a command is called."""
    key = key_of(door.environ)
    if key and lives(key):
        return folder_of(door.environ, key)
    raise NotFound(
        "no conversation of Claude Code is around this command",
        why="Only its hooks can hold a conversation to the stages of a plan.",
        next_step='Without one: asbuilt author "what you want" --staged',
    )


def typed(command: click.Command, context: click.Context, folder: str) -> list[str]:
    """Return what the user typed after /asbuilt:author as arguments; the prompt stays one word.

    Options come last. Text that only looks like an option is part of the prompt.
    """
    words = take_words(folder) or ""
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
    site, run = _open(door)
    if site is None or run is None:
        answer(door, "", "Nothing is authored in a conversation here.")
        next_command(door, "asbuilt status")
        return DONE
    try:
        bound = bound_in(folder)
    except BoundUnreadable:
        put_aside(folder)
        bound = None
    if bound is None or bound.run != run.run:
        _need_alone(door, run)
        bound = _bound_to(site, run)._replace(is_new=True)
    return _go_on(door, site, folder, bound)


def show(door: Door) -> int:
    """Print which plan is authored here, and its stage."""
    site, run = _open(door)
    if site is None or run is None:
        answer(door, "", "Nothing is authored in a conversation here.")
        return DONE
    answer(door, f"{run.options.slug}   ", _place(door, site, run))
    return DONE


def cancel(door: Door) -> int:
    """Cancel the authoring of this checkout, and print its stage. Accepted results stay in the journal."""
    site, run = _open(door)
    if site is None or run is None:
        answer(door, "", "Nothing is authored in a conversation here, so there is nothing to cancel.")
        return DONE
    where = _place(door, site, run)
    stop(site.journal.store, run, reason="cancelled", asker=asker(door))
    wiring.ensure_worker(site.journal.home, door.environ)
    for one in _folders(door, run):
        bind(one, None)
    answer(door, f"{run.options.slug}   ", f"Cancelled at {where}. What was accepted is kept.")
    next_command(door, f"asbuilt resume {run.options.slug}", " takes it up again")
    return DONE


def _open(door: Door) -> tuple[Site | None, Run | None]:
    """Return the authoring of this checkout that a conversation does."""
    _, site = look_at(door)
    if site is None:
        return None, None
    here = str(site.repository.root)
    for run in site.open_runs():
        if run.options.is_in_conversation and run.options.checkout == here:
            return site, run
    return site, None


def _bound_to(site: Site, run: Run) -> Bound:
    return Bound(run.run, run.repo, str(site.repository.root), run.options.slug)


def _place(door: Door, site: Site, run: Run) -> str:
    authoring = wiring.conversing(str(site.repository.root), door.environ, repo=run.repo, run=run.run)
    return authoring.place or "its beginning"


def _folders(door: Door, run: Run) -> list[str]:
    """Return the folders of all conversations that are bound to an authoring."""
    found = []
    for one in (
        folder_of(door.environ, key_of(door.environ)),
        *(one.folder for one in records(door.environ)),
    ):
        try:
            bound = bound_in(one)
        except BoundUnreadable:
            continue
        if bound is not None and bound.run == run.run and one not in found:
            found.append(one)
    return found


def _need_alone(door: Door, run: Run) -> None:
    for one in _folders(door, run):
        if lives(one.rpartition("/")[2]):
            raise GateStopped(
                f"{run.options.slug} is authored in another conversation",
                why="Two would hand in outputs of the same stage.",
                next_step="Go on there, or end it: asbuilt author cancel",
            )
        bind(one, None)


def _go_on(door: Door, site: Site, folder: str, bound: Bound) -> int:
    """Turn plan mode on, wait for the conversation's or the user's turn, and print what is due."""
    with Locked(folder):
        _hold(door, folder)
        bind(folder, bound._replace(asked="", stops=0))
    authoring = wiring.conversing(bound.root, door.environ, repo=bound.repo, run=bound.run)
    until = time.monotonic() + _PATIENCE_S
    while isinstance(turn := authoring.turn, Theirs) and time.monotonic() < until:
        wiring.ensure_worker(site.journal.home, door.environ)
        time.sleep(_LOOK_S)
    match turn:
        case Yours():
            with Locked(folder):
                bind(folder, bound._replace(asked=turn.name, stops=0, is_new=False))
            _tell(door, authoring.asked(begins=True, is_new=bound.is_new))
        case Theirs(what):
            _tell(door, f"{bound.slug}: another process is at it still: {what}. Run `{NEXT}` again.")
        case Persons(why, question):
            _tell(door, _approval(bound.slug, why, question))
        case Over(reason):
            with Locked(folder):
                bind(folder, None)
            _tell(door, f"The authoring of {bound.slug} is over: {reason}.")
        case _:
            assert_never(turn)
    return DONE


def _approval(slug: str, why: str, name: str) -> str:
    if not name:
        return f"{slug} waits for the user: {why}. Tell them, and end your turn."
    return (
        f"The draft of {slug} is in the store, and waits for the user as {name}. Say so, and end your turn."
        f" `asbuilt approve show {name}` shows it, `asbuilt approve yes {name}` approves it, and"
        f' `asbuilt approve no {name} -m "why"` sends it back, at a terminal of theirs or by'
        f" /asbuilt:approve {name}; then `{NEXT}` says what is to change. Planning stays held until they type"
        " `asbuilt mode exit`."
    )


def _hold(door: Door, folder: str) -> None:
    """Turn plan mode on. No file may be written, because the plan is submitted and not yet a file."""
    try:
        if hold_in(folder) is None:
            keep_hold(folder, begun(door).changed(plans=()))
    except HoldUnreadable:
        # With an unreadable hold the gate refuses everything, and only the user can end that.
        return


def _tell(door: Door, text: str) -> None:
    """Print a text without wrapping, because an agent reads it."""
    for row in printable(text, lines=True).split("\n"):
        door.screen.answer(row)
