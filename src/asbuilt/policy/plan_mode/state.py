"""Decide from hook events whether plan mode is on in a conversation: start, continue, end. Pure.

Rule: only an action of a person ends plan mode, never an agent's action or a missing field of a payload.
"""

from __future__ import annotations

from asbuilt.policy.light_json import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Literal

    By = Literal["mode", "command", "session"]
    Strings = tuple[str, ...]

PLAN = "plan"
ENTER = "EnterPlanMode"
EXIT = "ExitPlanMode"
COMMAND = "/asbuilt:plan"
VERSION = 1
_ASKS = ("AskUserQuestion", EXIT)
"""Tools that put a question to the user."""


class Event:
    """The fields of a hook event that concern plan mode."""

    __slots__ = ("agent", "mode", "name", "plan", "prompt", "source", "tool")

    def __init__(  # noqa: PLR0913  a value, on a path where dataclasses are too dear
        self,
        name: str,
        *,
        mode: str = "",
        tool: str = "",
        source: str = "",
        agent: str = "",
        plan: str = "",
        prompt: str = "",
    ) -> None:
        self.name = name
        """In Claude Code's spelling: PreToolUse, UserPromptSubmit, SessionStart."""
        self.mode = mode
        """Permission mode in the payload; empty: none."""
        self.tool = tool
        self.source = source
        """Of SessionStart: startup, resume, clear, compact, fork."""
        self.agent = agent
        """Id of the subagent; empty: the conversation itself."""
        self.plan = plan
        """Of ExitPlanMode: the plan file."""
        self.prompt = prompt
        """Of UserPromptSubmit: the text that a person typed, or that the agent's program submitted."""


class Hold:
    """Plan mode is on in a conversation: nothing may change but its own plan."""

    __slots__ = ("asked", "before", "by", "compacted", "plans", "proposed", "root", "since")

    def __init__(  # noqa: PLR0913  a value, on a path where dataclasses are too dear
        self,
        *,
        by: By = "mode",
        since: float = 0.0,
        root: str = "",
        before: str = "",
        plans: Strings = (),
        proposed: str = "",
        asked: bool = False,
        compacted: bool = False,
    ) -> None:
        self.by = by
        """What turned it on: Claude Code's plan mode, a command of the user, or `asbuilt session --plan`."""
        self.since = since
        self.root = root
        """Project folder of the conversation."""
        self.before = before
        """Permission mode in which the user typed the command; empty: not known."""
        self.plans = plans
        """Plan files, and folders of plans, that may be written."""
        self.proposed = proposed
        """Plan file that waits for approval; `?` if its path is unknown."""
        self.asked = asked
        """Whether the last tool call of this turn put a question, or the plan, to the user."""
        self.compacted = compacted
        """Whether the conversation was compacted since a payload last had the mode plan."""

    def changed(self, **fields: object) -> Hold:
        """Return a copy with other fields."""
        return Hold(**{**self.fields(), **fields})  # type: ignore[arg-type]  # each is its field's

    def fields(self) -> dict[str, object]:
        """Return all fields, for its file and for tests."""
        return {name: getattr(self, name) for name in self.__slots__}


class HoldUnreadable(Exception):
    """A hold exists and cannot be read: plan mode counts as on, and everything is refused."""


def event_in(name: str, payload: Mapping[str, object]) -> Event:
    """Read a hook's payload. A missing field, or one that is not text, is empty; empty ends nothing."""

    def text(key: str, within: object = payload) -> str:
        value = within.get(key) if isinstance(within, dict) else None
        return value if isinstance(value, str) else ""

    return Event(
        name,
        mode=text("permission_mode"),
        tool=text("tool_name"),
        source=text("source"),
        agent=text("agent_id"),
        plan=text("planFilePath", payload.get("tool_input")),
        prompt=text("prompt"),
    )


def after(hold: Hold | None, event: Event, *, now: float = 0.0, root: str = "") -> Hold | None:
    """Return the hold after an event; None: plan mode is off.

    Events of subagents and PermissionRequest events change nothing: they may arrive late, from before a
    decision of the person.
    """
    if event.agent or event.name == "PermissionRequest":
        return hold
    if event.mode == PLAN:
        hold = (hold or Hold(since=now, root=root)).changed(compacted=False)
    if hold is None or _is_over(hold, event):
        return None
    if event.name == "PreToolUse":
        proposed = event.plan or "?" if event.tool == EXIT else hold.proposed
        return hold.changed(proposed=proposed, asked=event.tool in _ASKS)
    if event.name in ("PreCompact", "PostCompact") or event.source == "compact":
        return hold.changed(compacted=True)
    if event.name == "UserPromptSubmit":
        # While Claude Code's own plan mode is on, only leaving that ends the hold.
        by = "mode" if _is_exit(hold, event) else hold.by
        return hold.changed(proposed="", asked=False, by=by)
    if event.name in ("PostToolBatch", "Stop"):
        # The user has answered with feedback instead of approving.
        return hold.changed(proposed="")
    return hold


def _is_over(hold: Hold, event: Event) -> bool:
    if hold.by == "session":
        return False
    if event.name == "PostToolUse" and event.tool == EXIT:
        return True
    if event.name == "SessionStart" and event.source == "clear":
        return bool(hold.proposed)
    if event.name != "UserPromptSubmit" or event.mode in ("", PLAN):
        return False
    return _is_exit(hold, event) or (hold.by == "mode" and not hold.compacted and is_typed(event.prompt))


def _is_exit(hold: Hold, event: Event) -> bool:
    return hold.by != "session" and arguments_of(COMMAND, event.prompt) == "exit"


def arguments_of(command: str, prompt: str) -> str | None:
    """Return the text that the user typed after a slash command; None if the prompt is another one."""
    text = prompt.lstrip()
    rest = text.removeprefix(command)
    return None if rest == text or rest[:1].strip() else rest.strip()


def is_typed(prompt: str) -> bool:
    """Return whether a person typed a prompt. The end of a background task is a prompt too, in tags."""
    return not prompt.lstrip().startswith("<")


def plan_file_in(transcript: Iterable[str]) -> str:
    """Find the plan file that Claude Code assigned to a conversation, in the lines of its transcript.

    The entry appears shortly before or after the first tool call in plan mode. A quote in a message cannot
    imitate it: only an attachment of type `plan_mode` that is not a subagent's counts.
    """
    found = ""
    for line in transcript:
        if '"plan_mode"' not in line:
            continue
        try:
            entry = read(line)
        except ValueError:
            continue
        attachment = (
            entry.get("attachment") if isinstance(entry, dict) and entry.get("type") == "attachment" else None
        )
        if (
            not isinstance(attachment, dict)
            or attachment.get("type") != "plan_mode"
            or attachment.get("isSubAgent")
        ):
            continue
        path = attachment.get("planFilePath")
        if isinstance(path, str) and path.startswith("/") and path.endswith(".md"):
            found = path
    return found


def to_file(hold: Hold) -> dict[str, object]:
    """Return a hold as its file stores it."""
    return {"v": VERSION, **hold.fields()}


def from_file(value: object) -> Hold:
    """Read a hold from its file's contents; raises HoldUnreadable."""
    fields = dict(value) if isinstance(value, dict) else {}
    fields.setdefault("asked", False)
    if fields.pop("v", None) != VERSION or fields.keys() != set(Hold.__slots__):
        raise HoldUnreadable("it was written by another version, or damaged")
    texts = [fields[name] for name in ("by", "root", "before", "proposed")]
    plans = fields["plans"]
    if not isinstance(plans, list) or not all(isinstance(text, str) for text in [*texts, *plans]):
        raise HoldUnreadable("it is damaged")
    flags = (fields["asked"], fields["compacted"])
    if not isinstance(fields["since"], int | float) or not all(isinstance(flag, bool) for flag in flags):
        raise HoldUnreadable("it is damaged")
    return Hold(**{**fields, "plans": tuple(plans)})
