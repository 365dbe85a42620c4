"""`asbuilt mode`: plan mode of a conversation, on or off, and the text of `/asbuilt:plan`.

Rule: an agent cannot turn plan mode off, so it may run `mode plan`. If several conversations match, the user
must name one.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

import click

from asbuilt.cli.shell.lazy import Lazy, LazyGroup
from asbuilt.cli.shell.options import Door, subcommand
from asbuilt.cli.shell.plan_context import desk_for
from asbuilt.cli.ui.clock import at
from asbuilt.cli.ui.messages import answer, next_command
from asbuilt.cli.ui.screen import printable
from asbuilt.cli.ui.words import counted
from asbuilt.errors import DONE, GateStopped, NotFound, UsageWrong
from asbuilt.policy.plan_mode.entering import turned_on_by_user
from asbuilt.policy.plan_mode.state import PLAN, Hold, HoldUnreadable, plan_file_in
from asbuilt.session.context.command_arguments import take_typed
from asbuilt.session.conversation import folder_of, hold_in, keep_hold, key_of, lives
from asbuilt.session.conversation_lock import Locked
from asbuilt.session.conversation_state import state_in
from asbuilt.session.conversations import records

conversation_option = click.option(
    "--conversation", metavar="KEY", help="key of the conversation, as `asbuilt mode show` prints it"
)


class Conversation(NamedTuple):
    """A known conversation."""

    key: str
    folder: str

    def hold(self) -> Hold | None:
        """Return the hold if plan mode is on, else None."""
        return hold_in(self.folder)

    def shown(self) -> str:
        """Describe its state in a few words."""
        try:
            return "plan mode on" if self.hold() else "plan mode off"
        except HoldUnreadable:
            return "unreadable"


def chosen(door: Door, key: str | None) -> Conversation:
    """Find the conversation: by key, by the environment, or as the only one in this folder."""
    if key is not None:
        # A key is the name of one folder, whatever characters it has.
        known = key_of({"ASBUILT_CONVERSATION": key})
        if not known or not Path(folder_of(door.environ, known)).is_dir():
            raise NotFound(
                f"no conversation is known as {key}",
                why="A conversation is known from its first plan mode or approved plan until it ends.",
                next_step="`asbuilt mode show`, in its folder",
            )
        return Conversation(known, folder_of(door.environ, known))
    around = key_of(door.environ)
    if around and lives(around):
        return Conversation(around, folder_of(door.environ, around))
    found = around_here(door)
    if len(found) == 1:
        return found[0]
    if not found:
        raise NotFound(
            "no conversation is known in this folder",
            why="A conversation is known from its first plan mode or approved plan.",
            next_step="`/asbuilt:plan`, typed in the conversation",
        )
    listed = ", ".join(f"{conversation.key} ({conversation.shown()})" for conversation in found)
    raise UsageWrong(
        f"{len(found)} conversations are open in this folder: {listed}",
        why="Each has its own mode.",
        next_step=f"`{click.get_current_context().command_path} --conversation {found[0].key}`",
    )


def around_here(door: Door) -> list[Conversation]:
    """Return the open conversations in this folder or below it."""
    here = Path(os.path.realpath(door.start))
    return [
        Conversation(record.key, record.folder)
        for record in records(door.environ)
        if record.is_alive and Path(os.path.realpath(record.state.cwd)).is_relative_to(here)
    ]


def _above(pid: int) -> list[str]:
    """Return the ids of a process's ancestors; empty on systems without /proc."""
    found = []
    while pid > 1:
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123  a file of the kernel
                pid = int(file.read().rpartition(b")")[2].split()[1])
        except (OSError, IndexError, ValueError):
            break
        found.append(str(pid))
    return found


_BY: Final = {"mode": "Claude Code", "command": "your command", "session": "asbuilt session --plan"}
UNREADABLE: Final = "Plan mode counts as on, and every call is refused: its state cannot be read."


@subcommand(
    "show",
    ("asbuilt mode show", "typed by you or your agent inside a conversation, or in its folder"),
    ("asbuilt mode show --json", "for a script"),
)
@conversation_option
def show(door: Door, conversation: str | None) -> None:
    """Show whether plan mode is on, since when, and what turned it on."""
    found, unreadable, hold = chosen(door, conversation), "", None
    try:
        hold = found.hold()
    except HoldUnreadable as error:
        unreadable = str(error)
    mode_data = {
        "conversation": found.key,
        "planning": "unreadable" if unreadable else "held" if hold else "not held",
        "by": hold.by if hold else None,
        "since": datetime.fromtimestamp(hold.since, UTC).isoformat() if hold else None,
        "before": hold.before or None if hold else None,
        "plans": list(hold.plans) if hold else [],
    }
    if door.emitted("asbuilt.mode/1", mode_data):
        return
    if unreadable:
        answer(door, "", f"{UNREADABLE} ({unreadable})")
        next_command(door, f"asbuilt mode exit --conversation {found.key}", comment="typed by you")
    else:
        answer(door, f"{found.key}   ", words(hold))


def words(hold: Hold | None) -> str:
    """Describe plan mode in a sentence."""
    if hold is None:
        return "Plan mode is off."
    since = at(datetime.fromtimestamp(hold.since, UTC).isoformat(), datetime.now(UTC))
    then = f" Mode before: {hold.before}." if hold.before else ""
    plan = f" Only this may be written: {', '.join(hold.plans)}." if hold.plans else ""
    return f"Plan mode is on since {since}, turned on by {_BY[hold.by]}.{then}{plan}"


_MODES: Final = ("default", "acceptEdits", "auto", "bypassPermissions", PLAN)
_KERNEL: Final = " The sandbox stays read-only. End this conversation and start a new one to write."
_SHIFT: Final = " Claude Code's own mode changes only there: press Shift+Tab."
_OWN: Final = " If Claude Code itself is in plan mode, press Shift+Tab there or approve the plan."


@subcommand("enter", ("asbuilt mode enter", "read-only, except for the plan"), json=False)
@conversation_option
def enter(door: Door, conversation: str | None) -> int:
    """Turn plan mode on in a conversation, until the plan is approved or you turn it off."""
    return _enter(door, chosen(door, conversation))


@subcommand(
    "exit",
    ("asbuilt mode exit", "typed at a terminal of yours, in the folder of the conversation"),
    ("asbuilt mode exit --conversation 4711-90210", "where several are open"),
    json=False,
)
@conversation_option
def exit_(door: Door, conversation: str | None) -> None:
    """Turn plan mode off in a conversation. An agent cannot: inside the conversation type /asbuilt:plan exit.

    An approved plan, or a prompt of yours in another mode of Claude Code, turns it off too.
    """
    found = chosen(door, conversation)
    if not _exit(door, found):
        raise GateStopped(
            f"plan mode is not on in {found.key}",
            why="There is nothing to exit.",
            next_step="`asbuilt mode show`",
        )


@subcommand("set", ("asbuilt mode set plan", "the same as asbuilt mode enter"), json=False)
@click.argument("mode", type=click.Choice(_MODES))
@conversation_option
def set_(door: Door, mode: str, conversation: str | None) -> int:
    """Turn plan mode on (`plan`) or off (any other mode). Only Shift+Tab changes Claude Code's own mode."""
    found = chosen(door, conversation)
    if mode == PLAN:
        return _enter(door, found)
    if not _exit(door, found):
        answer(door, f"{found.key}   ", f"{words(None)}{_SHIFT}")
    return DONE


def begun(door: Door) -> Hold:
    """Return the hold for plan mode that the user turns on here."""
    library = desk_for(door).library
    plans = library.folder or library.user_folder
    return turned_on_by_user(now=time.time(), root=str(door.start), plans=str(plans))


def _enter(door: Door, found: Conversation) -> int:
    with Locked(found.folder):
        hold = _hold(door, found) or begun(door)
        hold = hold if hold.by == "session" else hold.changed(by="command")
        keep_hold(found.folder, hold)
    answer(door, f"{found.key}   ", words(hold))
    return DONE


def _exit(door: Door, found: Conversation) -> bool:
    """Turn plan mode off; return whether it was on."""
    with Locked(found.folder):
        hold = _hold(door, found)
        if hold is None:
            return False
        # The key begins with the id of the conversation's process.
        if door.environ.get("CLAUDECODE") or found.key.partition("-")[0] in _above(os.getpid()):
            raise GateStopped(
                "an agent cannot turn plan mode off",
                why="The user does, by approving the plan or by a command.",
                next_step=f"`asbuilt mode exit --conversation {found.key}`, or there: `/asbuilt:plan exit`",
            )
        keep_hold(found.folder, None)
    answer(door, f"{found.key}   ", f"{words(None)}{_KERNEL if hold.by == 'session' else _OWN}")
    return True


def _hold(door: Door, found: Conversation) -> Hold | None:
    """Read the hold. An unreadable one counts as on; it is then rewritten or removed."""
    try:
        return found.hold()
    except HoldUnreadable:
        return begun(door)


_SHOWN_LINES: Final = 200
_ENDS: Final = "To turn it off, approve the plan or type: /asbuilt:plan exit"
_CLAUDE: Final = " Claude Code itself is in plan mode: press Shift+Tab, or approve the plan."
_SANDBOX: Final = " It ends with this conversation: `asbuilt session --plan` started it."
_NUMBERS: Final = re.compile(r"#?\d[\d\s,#-]*")


@subcommand("plan", ("asbuilt mode plan", "what /asbuilt:plan says in a conversation"), json=False)
def plan(door: Door) -> int:
    """Turn plan mode on in the conversation around this command; if it is on, show the plan and its path.

    It is off when the plan is approved, or when you type `/asbuilt:plan exit` there.
    """
    key = key_of(door.environ)
    if not key or not lives(key):
        answer(
            door, "", "This terminal is in no conversation of Claude Code, so plan mode cannot be on here."
        )
        next_command(door, "asbuilt session --plan -- claude", comment="starts one in a read-only sandbox")
        return DONE
    folder = folder_of(door.environ, key)
    typed = take_typed(folder, "plan") or ""
    with Locked(folder):
        try:
            hold = hold_in(folder)
        except HoldUnreadable as error:
            answer(door, "", f"{UNREADABLE} ({error})")
            next_command(door, "asbuilt mode exit", comment="typed at a terminal of your own")
            return DONE
        if typed == "exit":
            return _left(door, folder, hold)
        if _NUMBERS.fullmatch(typed):
            answer(door, "", f"These are numbers of tasks: asbuilt task plan {typed}")
            return DONE
        if hold is None:
            return _begin(door, folder)
    return _show_plan(door, folder, hold)


def _left(door: Door, folder: str, hold: Hold | None) -> int:
    """Report the result of `/asbuilt:plan exit`; the hook has turned plan mode off where that is possible."""
    if hold is not None:
        answer(door, "", f"{words(hold)}{_SANDBOX if hold.by == 'session' else _CLAUDE}")
        return DONE
    state = state_in(folder)
    mode = f" Permission mode: {state.mode}." if state and state.mode else ""
    answer(door, "", f"{words(None)}{mode} Work may start.")
    return DONE


def _begin(door: Door, folder: str) -> int:
    state = state_in(folder)
    hold = begun(door).changed(before=state.mode if state else "")
    keep_hold(folder, hold)
    plans = _shown(door, Path(hold.plans[0]))
    answer(door, "", f"Enabled plan mode. Read-only, except for a plan in {plans}. {_ENDS}")
    return DONE


def _show_plan(door: Door, folder: str, hold: Hold) -> int:
    named = list(_named(folder, hold))
    written = [file for file in named if file.is_file()]
    answer(door, "", words(hold))
    if not written:
        answer(door, "", "No plan written yet." + (f" It will be {_shown(door, named[0])}." if named else ""))
        return DONE
    newest = max(written, key=lambda file: file.stat().st_mtime)
    rows = printable(newest.read_text(encoding="utf-8", errors="replace"), lines=True).rstrip().split("\n")
    # Not wrapped, so that it can be copied.
    door.screen.answer_all((f"Plan: {_shown(door, newest)}", "", *rows[:_SHOWN_LINES]))
    if len(rows) > _SHOWN_LINES:
        answer(door, "", f"{counted(len(rows) - _SHOWN_LINES, 'line')} more.")
    return DONE


def _shown(door: Door, path: Path) -> str:
    return printable(str(path.relative_to(door.start) if path.is_relative_to(door.start) else path))


def _named(folder: str, hold: Hold) -> Iterator[Path]:
    """Return the paths of the conversation's plan: as proposed, as written, or as named by Claude Code."""
    yield from (Path(path) for path in (hold.proposed, *hold.plans) if path.endswith(".md"))
    state = state_in(folder)
    try:
        with Path(state.transcript if state else "").open(encoding="utf-8", errors="replace") as lines:
            given = plan_file_in(lines)
    except OSError:
        given = ""
    if given:
        yield Path(given)


group: Final = LazyGroup(
    "mode",
    help=(
        "While plan mode is on, a conversation is read-only except for its own plan. Claude Code's plan mode"
        " turns it on automatically; these commands are for you.\n\nThe command finds the conversation around"
        " it, or the only one that is open in this folder. Otherwise name it with --conversation."
    ),
    examples=[
        ("asbuilt mode show", "whether plan mode is on, since when, and what turned it on"),
        ("asbuilt mode enter", "turn plan mode on in the conversation of this folder"),
        ("asbuilt mode exit", "turn it off; an agent cannot"),
    ],
    commands={
        "show": Lazy("plan_mode:show", "show whether plan mode is on"),
        "plan": Lazy("plan_mode:plan", "what /asbuilt:plan does in a conversation"),
        "enter": Lazy("plan_mode:enter", "turn plan mode on"),
        "exit": Lazy("plan_mode:exit_", "turn plan mode off"),
        "set": Lazy("plan_mode:set_", "plan turns it on, any other mode turns it off"),
    },
)
