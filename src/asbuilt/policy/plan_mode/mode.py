"""State machine of a conversation's permission mode: entering plan mode, exit requests, approvals. Pure.

Rules and auto mode are never switched on and off. The rules in force are derived from the state, so that
entering and leaving plan mode cannot leave one behind. The gate does not load this module; it uses
`policy.plan_mode.hold`.

Rule: a person can leave plan mode in every state. An agent needs the approval of a person, a required
teammate that of its lead. Another teammate leaves without approval. A subagent cannot leave.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal, assert_never

from asbuilt.policy.plan_mode.reminders import TURNS_BETWEEN, Notice, reminder

Mode = Literal["default", "acceptEdits", "auto", "bypassPermissions", "plan"]
Who = Literal["person", "agent", "subagent", "teammate", "required teammate"]
"""A teammate plans voluntarily; a required teammate plans because its lead demands it."""

MODES: Final[tuple[Mode, ...]] = ("default", "acceptEdits", "auto", "bypassPermissions", "plan")
DANGEROUS: Final = ("Bash", "Agent", "PowerShell")
"""Tools for which a rule that allows everything would let auto mode run anything unseen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request for approval: of an entry, or of an exit with the plan that is shown."""

    kind: Literal["enter", "exit"]
    name: str
    to: Literal["person", "lead"] = "person"
    sender: str = ""
    at: str = ""
    """ISO 8601, in UTC."""
    plan: str = ""
    content: str = ""
    digest: str = ""

    def to_lead(self) -> dict[str, str]:
        """Return the request in the form that a lead reads."""
        return {
            "type": "plan_approval_request",
            "from": self.sender,
            "timestamp": self.at,
            "planFilePath": self.plan,
            "planContent": self.content,
            "requestId": self.name,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """Permission mode of a conversation, with pending requests and notices."""

    mode: Mode = "default"
    before: Mode | None = None
    """Mode to return to; None: not in plan mode."""
    rules: tuple[str, ...] = ()
    """Rules that the user has allowed, as written."""
    auto_during_plan: bool = False
    auto_shut: str = ""
    """Why auto mode is not available; empty: it is."""
    approver: bool = True
    """Whether an approver can be reached."""
    awaiting: Request | None = None
    approved: str = ""
    """Digest of the plan that was approved last."""
    rejected: str = ""
    """Digest of the plan that was rejected with feedback."""
    bounced: bool = False
    """A plan was rejected without feedback, and the person was asked once what to do."""
    notices: tuple[Notice, ...] = ()
    """Notices for the agent, sent once with the next prompt."""
    planned: bool = False
    """Whether a plan from an earlier time in plan mode exists."""
    reminded: int = 0
    """Number of reminders since plan mode was last left."""
    turns: int = 0
    """Prompts of a person since the last reminder."""


# Events.


@dataclass(frozen=True, slots=True, kw_only=True)
class Entered:
    """A request to enter plan mode."""

    who: Who
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExitAsked:
    """A request to leave plan mode with a plan; a person leaves at once."""

    who: Who
    name: str = ""
    sender: str = ""
    at: str = ""
    plan: str = ""
    content: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The answer of a person or a lead to a request."""

    name: str
    approved: bool
    digest: str = ""
    """Digest of the plan that they saw."""
    feedback: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeSet:
    """A person chooses a mode."""

    mode: Mode


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompted:
    """A turn starts; only a person's turns count for reminders."""

    human: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnded:
    """The agent wants to end its turn."""

    asks: bool
    """Whether it ends with a question to the person, or with a request to leave."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A condition around the conversation changed; None: unchanged."""

    auto_during_plan: bool | None = None
    auto_shut: str | None = None
    approver: bool | None = None


Event = Entered | ExitAsked | Answered | ModeSet | Prompted | TurnEnded | Changed


# Results.


@dataclass(frozen=True, slots=True)
class Refused:
    """The event has no effect, and why."""

    why: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A request is sent; the sender waits for the answer."""

    request: Request
    question: str


@dataclass(frozen=True, slots=True)
class Told:
    """A notice for the agent, sent once."""

    notice: Notice


@dataclass(frozen=True, slots=True)
class Fed:
    """The feedback with which the agent's plan was rejected."""

    feedback: str


@dataclass(frozen=True, slots=True)
class Bounced:
    """The person is asked, once, what to do with a plan that they rejected without feedback."""


Said = Refused | Asked | Told | Fed | Bounced
Step = tuple[State, tuple[Said, ...]]


def step(state: State, event: Event) -> Step:
    """Return the state after an event, and the results."""
    match event:
        case Entered():
            return _entered(state, event)
        case ExitAsked():
            return _exit_asked(state, event)
        case Answered():
            return _answered(state, event)
        case ModeSet():
            return _mode_set(state, event.mode)
        case Prompted():
            return _prompted(state, human=event.human)
        case TurnEnded():
            ends = state.mode != "plan" or event.asks or state.awaiting is not None
            why = "A turn in plan mode ends with a question to the person, or with a request to leave it."
            return state, () if ends else (Refused(why),)
        case Changed():
            return _changed(state, event), ()
        case _:
            assert_never(event)


def has_auto(state: State) -> bool:
    """Return whether auto mode decides: in auto mode, and in plan mode if the user wants that.

    Never in plan mode entered from bypassPermissions: a user who trusted everything has not asked for a
    judge.
    """
    if state.auto_shut:
        return False
    if state.mode == "plan":
        return state.auto_during_plan and state.before != "bypassPermissions"
    return state.mode == "auto"


def rules_in_force(state: State) -> tuple[str, ...]:
    """Return the user's rules; while auto mode decides, without those that would let it run anything."""
    return tuple(rule for rule in state.rules if not (has_auto(state) and is_dangerous(rule)))


def is_dangerous(rule: str) -> bool:
    """Return whether a rule allows every call of a tool that runs commands."""
    tool, _, rest = rule.partition("(")
    return tool in DANGEROUS and rest.rstrip(")").strip() in ("", "*", ":*")


def offers_entry(state: State, who: Who) -> bool:
    """Return whether the tool to enter plan mode is listed.

    It is listed without its schema, is safe beside other calls, and only reads.
    """
    return state.approver and who != "subagent" and state.mode != "plan"


def is_approved(state: State, digest: str) -> bool:
    """Return whether exactly this text of a plan was approved."""
    return bool(digest) and state.approved == digest


def _entered(state: State, event: Entered) -> Step:
    if event.who == "subagent":
        return state, (Refused("EnterPlanMode tool cannot be used in agent contexts"),)
    if state.mode == "plan":
        return state, ()
    if not state.approver and event.who != "person":
        why = "Nobody can be reached who could approve a plan, so plan mode could not be left again."
        return state, (Refused(why),)
    if event.who == "agent":
        request = Request(kind="enter", name=event.name)
        return replace(state, awaiting=request), (Asked(request, "Enter plan mode?"),)
    return _planning(state), ()


def _planning(state: State) -> State:
    """Enter plan mode, and drop notices about an earlier exit."""
    notices = (Notice("plan_mode_reentry"),) if state.planned else ()
    return replace(state, mode="plan", before=state.mode, awaiting=None, notices=notices, turns=TURNS_BETWEEN)


def _exit_asked(state: State, event: ExitAsked) -> Step:
    if state.mode != "plan":
        return state, (Refused("You are not in plan mode, so there is nothing to exit."),)
    match event.who:
        case "person":
            return _left(state)
        case "subagent":
            return state, (Refused("ExitPlanMode tool cannot be used in agent contexts"),)
        case "teammate":
            return _left(state)
        case "required teammate" if not event.content:
            return state, (Refused("No plan file was found. Write the plan before you ask to leave."),)
        case "agent" | "required teammate":
            pass
        case _:
            assert_never(event.who)
    if event.digest and event.digest == state.rejected:
        return state, (Refused("This plan was rejected, and it has not changed since."),)
    if state.bounced:
        return state, (Refused("The plan was rejected without a word; the person says what is to happen."),)
    request = Request(
        kind="exit",
        name=event.name,
        to="lead" if event.who == "required teammate" else "person",
        sender=event.sender,
        at=event.at,
        plan=event.plan,
        content=event.content,
        digest=event.digest,
    )
    return replace(state, awaiting=request), (Asked(request, "Exit plan mode?"),)


def _answered(state: State, event: Answered) -> Step:
    request = state.awaiting
    if request is None or request.name != event.name:
        return state, (Refused("Nothing waits for this answer."),)
    if request.kind == "enter":
        settled = replace(state, awaiting=None)
        return (_planning(settled) if event.approved else settled), ()
    if event.digest != request.digest:
        return state, (Refused("The plan is not the one that was shown; it has to be shown again."),)
    settled = replace(state, awaiting=None)
    if event.approved:
        return _left(replace(settled, approved=request.digest))
    if event.feedback:
        return replace(settled, rejected=request.digest), (Fed(event.feedback),)
    return replace(settled, bounced=True), (Bounced(),)


def _mode_set(state: State, mode: Mode) -> Step:
    if mode == "auto" and state.auto_shut:
        return state, (Refused(f"Auto mode is not available: {state.auto_shut}."),)
    if mode == "plan":
        return _entered(state, Entered(who="person"))
    if state.mode == "plan":
        return _left(replace(state, before=mode))
    return replace(state, mode=mode), ()


def _left(state: State) -> Step:
    """Leave into the mode before; into default if that was auto mode and it is no longer available."""
    mode = state.before or "default"
    notices = [Notice("plan_mode_exit")]
    if mode == "auto" and state.auto_shut:
        mode = "default"
        notices.append(Notice("auto_unavailable", reason=state.auto_shut))
    return (
        replace(
            state,
            mode=mode,
            before=None,
            awaiting=None,
            rejected="",
            bounced=False,
            notices=tuple(notices),
            planned=True,
            reminded=0,
            turns=0,
        ),
        (),
    )


def _prompted(state: State, *, human: bool) -> Step:
    """Send each pending notice once, and in plan mode a reminder with a person's 1st, 6th, 11th prompt."""
    told = state.notices
    state = replace(state, notices=())
    if human:
        state = replace(state, turns=state.turns + 1, bounced=False)
        if state.mode == "plan" and state.turns >= TURNS_BETWEEN:
            state = replace(state, reminded=state.reminded + 1, turns=0)
            told = (*told, reminder(state.reminded))
    return state, tuple(Told(notice) for notice in told)


def _changed(state: State, event: Changed) -> State:
    given = {
        "auto_during_plan": event.auto_during_plan,
        "auto_shut": event.auto_shut,
        "approver": event.approver,
    }
    return replace(state, **{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]  # each is its field's
