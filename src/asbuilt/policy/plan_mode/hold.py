"""Say from what a conversation tells whether planning is held in it: begun, going on, over. Pure.

The one rule: planning is over only by what a person did, never by what an agent did or a payload left out.
"""

from __future__ import annotations

from asbuilt.policy.notation import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Literal

    By = Literal["mode", "command", "session"]
    Strings = tuple[str, ...]

PLAN = "plan"
VERSION = 1


class Event:
    """What one hook event says about planning."""

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
        """As Claude Code spells it: PreToolUse, UserPromptSubmit, SessionStart."""
        self.mode = mode
        """The permission mode that the payload carries; empty: it carries none."""
        self.tool = tool
        self.source = source
        """Of SessionStart: startup, resume, clear, compact, fork."""
        self.agent = agent
        """Of a subagent: its id; empty: the conversation itself."""
        self.plan = plan
        """Of ExitPlanMode: the plan file."""
        self.prompt = prompt
        """Of UserPromptSubmit: what was typed, or what the agent's program said in a person's place."""


class Hold:
    """Planning is held in a conversation: nothing changes but its own plan."""

    __slots__ = ("before", "by", "compacted", "plans", "proposed", "root", "since")

    def __init__(  # noqa: PLR0913  a value, on a path where dataclasses are too dear
        self,
        *,
        by: By = "mode",
        since: float = 0.0,
        root: str = "",
        before: str = "",
        plans: Strings = (),
        proposed: str = "",
        compacted: bool = False,
    ) -> None:
        self.by = by
        """What began it: the agent's own plan mode, `asbuilt mode enter`, or `asbuilt session --plan`."""
        self.since = since
        self.root = root
        """Where the conversation stands."""
        self.before = before
        """The permission mode before it, as far as it was seen."""
        self.plans = plans
        """The plan files, and folders of plans, that may be written to."""
        self.proposed = proposed
        """The plan file whose approval is asked for just now."""
        self.compacted = compacted
        """The conversation was compacted since a payload last said plan."""

    def changed(self, **fields: object) -> Hold:
        """Give the same hold with other fields."""
        return Hold(**{**self.fields(), **fields})  # type: ignore[arg-type]  # each is its field's

    def fields(self) -> dict[str, object]:
        """Show all of it, for its file and for tests."""
        return {name: getattr(self, name) for name in self.__slots__}


class HoldUnreadable(Exception):
    """A hold is there and nobody can say what it says: planning counts as held, and everything is refused."""


def event_in(name: str, payload: Mapping[str, object]) -> Event:
    """Read what a hook was given; what is missing or no text is empty, and empty ends nothing."""

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
    """Give the hold as it is after an event; None: planning is not held.

    What a subagent's payload says, or a question's, changes nothing: it may come late, from before a person
    decided.
    """
    if event.agent or event.name == "PermissionRequest":
        return hold
    if event.mode == PLAN:
        hold = (hold or Hold(since=now, root=root)).changed(compacted=False)
    if hold is None:
        return None
    if event.name == "PreToolUse" and event.tool == "ExitPlanMode":
        return hold.changed(proposed=event.plan or "?")
    if hold.by == "mode" and _is_over(hold, event):
        return None
    if event.name in ("PreCompact", "PostCompact") or event.source == "compact":
        return hold.changed(compacted=True)
    if event.name in ("UserPromptSubmit", "PostToolBatch", "Stop"):
        # Whoever types something, or got an answer with words in it, has not approved.
        return hold.changed(proposed="")
    return hold


def _is_over(hold: Hold, event: Event) -> bool:
    if event.name == "PostToolUse" and event.tool == "ExitPlanMode":
        return True
    if event.name == "SessionStart" and event.source == "clear":
        return bool(hold.proposed)
    return (
        not hold.compacted
        and event.mode not in ("", PLAN)
        and event.name == "UserPromptSubmit"
        and is_typed(event.prompt)
    )


def is_typed(prompt: str) -> bool:
    """Tell whether a person typed a prompt: the end of a background task comes as one too, in tags."""
    return not prompt.lstrip().startswith("<")


def plan_file_in(transcript: Iterable[str]) -> str:
    """Find the plan file that Claude Code has given a conversation, in the lines of its transcript.

    It stands there a moment before or after the first call of a tool in plan mode. What is quoted in a
    message cannot pass for it: a line counts by what it is, and if it was told to the conversation itself.
    """
    found = ""
    for line in transcript:
        if '"plan_mode"' not in line:
            continue
        try:
            entry = read(line)
        except ValueError:
            continue
        told = (
            entry.get("attachment") if isinstance(entry, dict) and entry.get("type") == "attachment" else None
        )
        if not isinstance(told, dict) or told.get("type") != "plan_mode" or told.get("isSubAgent"):
            continue
        path = told.get("planFilePath")
        if isinstance(path, str) and path.startswith("/") and path.endswith(".md"):
            found = path
    return found


def to_file(hold: Hold) -> dict[str, object]:
    """Give what a file keeps of a hold."""
    return {"v": VERSION, **hold.fields()}


def from_file(value: object) -> Hold:
    """Read what a file keeps; raises HoldUnreadable for anything else."""
    fields = dict(value) if isinstance(value, dict) else {}
    if fields.pop("v", None) != VERSION or fields.keys() != set(Hold.__slots__):
        raise HoldUnreadable("it was written by another version, or damaged")
    texts = [fields[name] for name in ("by", "root", "before", "proposed")]
    plans = fields["plans"]
    if not isinstance(plans, list) or not all(isinstance(one, str) for one in [*texts, *plans]):
        raise HoldUnreadable("it is damaged")
    if not isinstance(fields["since"], int | float) or not isinstance(fields["compacted"], bool):
        raise HoldUnreadable("it is damaged")
    return Hold(**{**fields, "plans": tuple(plans)})
