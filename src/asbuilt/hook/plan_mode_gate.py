"""Decide a tool call while plan mode is on. Loaded only then.

Rule: refuse what is not understood, and name the nearest allowed alternative.
"""

from __future__ import annotations

import os
import time

from asbuilt.policy.plan_mode.state import Hold, after, plan_file_in
from asbuilt.policy.plan_mode.tool_tables import READS, RUNS, STARTS, WRITES, is_listed, refusal_of
from asbuilt.session.conversation import hold_in, keep_hold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from asbuilt.policy.plan_mode.state import Event

    Decided = tuple[str, dict[str, object] | None]

UNREADABLE = "plan mode is on, and this call cannot be parsed."
_REGULAR = 0o10
_TRANSCRIPT = 32 << 20
"""Bytes read from the end of a transcript. Claude Code repeats the plan file's name every few turns."""
_BY_AGENT = "-agent-"
"""Before the id in the name of a subagent's plan, which is beside the conversation's: `PLAN-agent-ID.md`."""
_PATIENCE_S = 1.0
_LOOK_S = 0.02


class Call:
    """One tool call and everything its decision depends on."""

    __slots__ = ("agent", "cwd", "environ", "folder", "given", "hold", "tool", "transcript")

    def __init__(  # noqa: PLR0913  a value, on a path where dataclasses are too dear
        self,
        tool: str,
        given: Mapping[str, object],
        *,
        cwd: str,
        environ: Mapping[str, str],
        folder: str,
        transcript: str,
        hold: Hold,
        agent: str = "",
    ) -> None:
        self.tool = tool
        self.given = given
        self.cwd = cwd
        self.environ = environ
        self.folder = folder
        """The conversation's folder; empty if the conversation has no key."""
        self.transcript = transcript
        self.hold = hold
        self.agent = agent
        """Id of the subagent; empty: the conversation itself."""

    @property
    def home(self) -> str:
        """The user's home folder; empty if HOME is not set."""
        return self.environ.get("HOME", "")


def kept(folder: str, hold: Hold | None, event: Event, *, root: str) -> Hold:
    """Return the hold after an event, and store it."""
    now = time.time()
    new = after(hold, event, now=now, root=root)
    if new is None:
        # A subagent in plan mode, in a conversation that is not.
        return Hold(since=now, root=root)
    if not folder or (hold is not None and new.fields() == hold.fields()):
        return new
    from asbuilt.session.conversation_lock import Locked  # noqa: PLC0415  fcntl is for the rare call that changes a hold

    with Locked(folder):
        newest = after(hold_in(folder), event, now=now, root=root)
        if newest is not None:
            keep_hold(folder, newest)
    # If the user ended plan mode at this moment, this call is still held, and it does not turn it on again.
    return newest or new


def decided(call: Call) -> Decided:
    """Return why a call is refused, or an empty string and its rewritten input (None: unchanged)."""
    tool = call.tool
    if tool == RUNS:
        return _ran(call)
    if tool in WRITES:
        return _written(call, call.given.get(WRITES[tool])), None
    if tool in READS:
        return _read(call), None
    if tool in STARTS:
        own = "isolation" in call.given
        return "plan mode is read-only, and this subagent would make a worktree." if own else "", None
    return _unknown(call), None


def _ran(call: Call) -> Decided:
    text = call.given.get("command")
    if not isinstance(text, str):
        return UNREADABLE, None
    from asbuilt.policy.shell.judge import verdict  # noqa: PLC0415  the door's dispatch: only commands need it

    root = call.hold.root or call.cwd
    refused = verdict(
        text, cwd=call.cwd, home=call.home, root=root, resolve=os.path.realpath, exists=os.path.lexists,
        names=_names, opened=call.hold.plans,
    )  # fmt: skip
    if refused:
        return f"{refused}\n{_legal_way(call)}", None
    if text.split()[0] == "asbuilt":
        # asbuilt's own commands need its state folder, which the sandbox does not show.
        return "", None
    if not call.folder:
        return "the sandbox is unavailable: CLAUDE_PID does not name the conversation.", None
    from asbuilt.hook.deny_rules import denying  # noqa: PLC0415  the same
    from asbuilt.session.look_command import wrapped  # noqa: PLC0415  the same

    if rule := denying(text, call.environ, root):
        return f"a deny rule of the user matches this command: {rule}.", None
    return "", {**call.given, "command": wrapped(call.folder, text, since=call.hold.since)}


def _names(folder: str) -> list[str]:
    from asbuilt.session.wildcard_expansion import names_in  # noqa: PLC0415  only a wildcard, or links that are followed

    return names_in(folder)


def _read(call: Call) -> str:
    named, pattern = call.given.get(READS[call.tool]), call.given.get("pattern")
    if call.tool == "Glob" and isinstance(pattern, str):
        start = os.path.dirname(pattern.partition("*")[0])
        within = named if isinstance(named, str) else "."
        named = start if start[:1] in ("/", "~") else os.path.join(within, start)
    path = _path(call, "." if named is None and call.tool == "Grep" else named)
    if not path:
        return UNREADABLE
    from asbuilt.policy.plan_mode.secret_paths import (  # noqa: PLC0415
        Reach,
        aims_at_secret,
        holds_secrets,
        is_secret,
        is_secret_folder,
    )

    real = os.path.realpath(path)
    reach = Reach((call.home, os.path.realpath(call.home)), _opened(call, path))
    if reach.closes(path) or reach.closes(real):
        return f"plan mode reads nothing in a home folder outside the repository, and {path} is there."
    among = call.given.get("glob") if call.tool == "Grep" else pattern if call.tool == "Glob" else ""
    filters = [among, *among.replace(",", " ").split()] if isinstance(among, str) and among else []
    if call.tool in ("Glob", "LS"):
        secret = is_secret_folder(real, reach)
    elif call.tool == "Grep":
        secret = holds_secrets(real, reach) or is_secret(real, reach)
    else:
        secret = is_secret(path, reach) or is_secret(real, reach)
    if secret or any(aims_at_secret(text) for text in filters):
        return f"plan mode does not read secrets, and {_shown(call, path)} is or contains one."
    return ""


def _opened(call: Call, path: str) -> list[str]:
    """List readable paths: the repository, its plans, and Claude Code's files beside the transcript."""
    own = [call.hold.root or call.cwd, *call.hold.plans]
    if _BY_AGENT in path and _is_plain(path) and _is_beside(path, [*own, _given_plan(call)]):
        own.append(path)
    if call.transcript.endswith(".jsonl"):
        own += [call.transcript[: -len(".jsonl")], f"{os.path.dirname(call.transcript)}/memory"]
    return [*own, *map(os.path.realpath, own)]


def _written(call: Call, named: object) -> str:
    path = _path(call, named)
    if not path:
        return UNREADABLE
    if path == named and _is_plain(path) and _is_own(call, os.path.realpath(path)):
        return ""
    return f"plan mode is read-only and {call.tool} changes {_shown(call, path)}. {_legal_way(call)}"


def _is_plain(path: str) -> bool:
    """Return whether writing to a path changes one Markdown file of that name, and none through a link."""
    folder, name = os.path.split(path)
    if not name.endswith(".md") or os.path.realpath(path) != f"{os.path.realpath(folder)}/{name}":
        return False
    try:
        about = os.lstat(path)
    except FileNotFoundError:
        return True
    return about.st_nlink == 1 and about.st_mode >> 12 == _REGULAR


def _is_own(call: Call, path: str) -> bool:
    """Return whether a path is the conversation's own plan; a new file in a plan folder becomes its plan."""
    own = [os.path.realpath(plan) for plan in call.hold.plans]
    if call.agent:
        mains = (
            own
            if any(plan_path.endswith(".md") for plan_path in own)
            else [os.path.realpath(_awaited_plan(call) or "/")]
        )
        return path not in own and _is_beside(path, mains, agent=call.agent)
    if path in own:
        return True
    folder = os.path.dirname(path)
    is_new = folder in own and not folder.endswith(".md") and not os.path.lexists(path)
    if not is_new and path != os.path.realpath(_awaited_plan(call) or "/"):
        return False
    if call.folder:
        from asbuilt.session.conversation_lock import Locked  # noqa: PLC0415  the same

        with Locked(call.folder):
            hold = hold_in(call.folder)
            if hold is not None:
                keep_hold(call.folder, hold.changed(plans=(*hold.plans, path)))
    return True


def _is_beside(path: str, plans: list[str], *, agent: str = "") -> bool:
    """Return whether a path is a subagent's plan beside one of the plans; `agent`: this subagent's."""
    main, _, name = path.removesuffix(".md").rpartition(_BY_AGENT)
    return f"{main}.md" in plans and name.replace("-", "").isalnum() and agent in ("", name)


def _awaited_plan(call: Call) -> str:
    """Return the given plan file, waiting up to 1 s: it is recorded during the first call, not before."""
    until = time.monotonic() + _PATIENCE_S
    while not (plan := _given_plan(call)) and time.monotonic() < until:
        time.sleep(_LOOK_S)
    return plan


def _given_plan(call: Call) -> str:
    """Return the plan file that Claude Code gave to the conversation; empty if none."""
    try:
        file = os.open(call.transcript, os.O_RDONLY | os.O_NONBLOCK)
    except (OSError, ValueError):
        return ""
    try:
        os.lseek(file, max(0, os.fstat(file).st_size - _TRANSCRIPT), os.SEEK_SET)
        data = b""
        while len(data) < _TRANSCRIPT and (piece := os.read(file, _TRANSCRIPT)):
            data += piece
    finally:
        os.close(file)
    return plan_file_in(line.decode("utf-8", "replace") for line in data.split(b"\n") if b"plan_mode" in line)


def _legal_way(call: Call) -> str:
    own = [path for path in call.hold.plans if path.endswith(".md")]
    plan = own[-1] if own else _given_plan(call)
    if plan and call.agent:
        plan = f"{plan[:-3]}{_BY_AGENT}{call.agent}.md"
    return f"To propose the change, write it into {_shown(call, plan) if plan else 'the plan'}."


def _shown(call: Call, path: str) -> str:
    root = call.hold.root or call.cwd
    return path[len(root) + 1 :] if path.startswith(f"{root}/") else path


def _path(call: Call, named: object) -> str:
    """Return the absolute path that a call names, as Claude Code resolves it; empty if it is not valid."""
    if not isinstance(named, str) or not named or "\0" in named:
        return ""
    if named == "~" or named.startswith("~/"):
        named = call.home + named[1:]
    return os.path.normpath(os.path.join(call.cwd, named))


def _unknown(call: Call) -> str:
    refused = refusal_of(call.tool)
    if not refused:
        return ""
    from asbuilt.session.planning_tools import listed  # noqa: PLC0415  the same

    return "" if is_listed(call.tool, listed(call.environ)) else refused
