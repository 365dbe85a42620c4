"""Put events into words: one line each, the same in every door. A kind that is not known is shown as it is.

The one rule: an agent says; asbuilt ran; only our check makes proven.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from asbuilt.lifecycle.phases import TROUBLE
from asbuilt.lifecycle.timeline import why_parked
from asbuilt.lifecycle.timers import deferral_min, deferrals_told
from asbuilt.proof.evidence import already_failing
from asbuilt.proof.projects.model import Suite

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from asbuilt.journal.events import Event

_HASH: Final = 7
_ENDING: Final = ("ending", "reason")


class Line(NamedTuple):
    """What an event says: of which phase, in one word, and the rest."""

    phase: str
    word: str
    text: str
    is_news: bool = True
    """False: bookkeeping that only a full log shows."""


def told(event: Event) -> Line:
    """Put one event into words."""
    words = _WORDS.get(event.kind)
    if words is None:
        return Line(_phase(event.data), event.kind, json.dumps(event.data, sort_keys=True), is_news=False)
    word, text, is_news = words(event.data)
    return Line(_phase(event.data), word, " ".join(text.split()), is_news)


def _phase(data: Mapping[str, Any]) -> str:
    return str(data.get("phase") or "-")


Words = tuple[str, str, bool]


def _attempt_ended(data: Mapping[str, Any]) -> Words:
    if data["ending"] == "done" and "output" in data:
        return "HANDED IN", "judged next", False
    if data["ending"] == "done":
        says = str(data.get("says", "")).strip()
        return "SAYS DONE", f'agent: "{says}"' if says else "the agent says that it is done", True
    cause = data.get("cause")
    word = data["ending"] if cause in (None, "usage_limit", "crash") else cause
    return word.upper().replace("_", " "), str(data.get("reason", "")), True


def _checks(data: Mapping[str, Any]) -> Words:
    again = "; run before on this tree" if data.get("reused") else ""
    failures = "; ".join(data.get("failures", ()))
    return data["outcome"].replace("_", " "), (failures or "every check that asbuilt ran") + again, True


def _verdict(data: Mapping[str, Any]) -> Words:
    failures = "; ".join(data.get("failures", ()))
    return "VERDICT", f"verifier says {data['outcome']}" + (f": {failures}" if failures else ""), True


def _drift(data: Mapping[str, Any]) -> Words:
    asked = (str(one[-1]).partition("\n")[0] for one in data["asks"])
    said = (*asked, *data["stops"], *data["notes"])
    return "DRIFT", "; ".join(said) or "a number of the plan is not what was measured", bool(said)


def _judged(data: Mapping[str, Any]) -> Words:
    match data["outcome"]:
        case "accepted":
            return "ACCEPTED", "what was handed in holds", True
        case "asks":
            return "WONDERS", f"{data['many']} questions for you", True
        case "proposed":
            return "PROPOSED", "several plans, to be made into one", True
        case "refused":
            return "REFUSED", str(data["why"]), True
        case _:
            return "GAVE UP", str(data["why"]), True


def _approval(data: Mapping[str, Any]) -> Words:
    return "ASKS", f"a{data['number']}: {data['question']}", True


def _answer(data: Mapping[str, Any]) -> Words:
    note = f": {data['note']}" if data.get("note") else ""
    return "ANSWERED", f"a{data['number']}: {data['answer']}{note}", True


def _draft(data: Mapping[str, Any]) -> Words:
    label = f", {data['label']}" if data["label"] else ""
    return "DRAFT", f"revision {data['number']} by {data['by']}{label}", True


def _parked(data: Mapping[str, Any]) -> Words:
    # Trouble has told of itself.
    is_news = not data["why"].startswith(TROUBLE)
    return "PARKED", why_parked(data) + (f", until {data['until']}" if data.get("until") else ""), is_news


def _deferred(data: Mapping[str, Any]) -> Words:
    where = f"Phase {data['phase']}" if data["phase"] != "-" else "A run"
    cadence = f"{deferral_min(data['number'])}m"
    text = f"{where} already in progress, deferring. Backoff cadence now {cadence}."
    return "DEFERRED", text, deferrals_told(data["number"])


def _outcome(word: str) -> Callable[[Mapping[str, Any]], Words]:
    def words(data: Mapping[str, Any]) -> Words:
        return word, f"{data['outcome'].replace('_', ' ')} {data.get('why') or ''}", True

    return words


def _baseline(data: Mapping[str, Any]) -> Words:
    failing = already_failing(data.get("ran"), data.get("failed"))
    if failing and data["outcome"] in ("PASS", "FAIL"):
        return "BASELINE", failing, True
    return _outcome("BASELINE")(data)


def _tests(data: Mapping[str, Any]) -> Words:
    several = " + ".join(Suite(*plain).shown for plain in data.get("suites") or ())
    command = data.get("command") or several
    return "TESTS", f"{command} ({data.get('source', 'set')})" if command else "skipping test gate", True


def change_words(key: str, before: object, after: object) -> str:
    """Say how a setting has changed."""
    return f"{key} is now {_value(after)}; it was {_value(before)}"


def _value(value: object) -> str:
    if value is None:
        return "not set"
    return (f"`{value}`" if value else "none") if isinstance(value, str) else json.dumps(value)


_WORDS: Final[dict[str, Callable[[Mapping[str, Any]], Words]]] = {
    "run.requested": lambda data: ("ASKED", f"mode {data.get('mode', 'phase')}", False),
    "claim.acquired": lambda _: ("CLAIM", "taken", False),
    "claim.released": lambda _: ("CLAIM", "released", False),
    "claim.broken": lambda data: ("CLAIM", f"broken: {data['reason']}", True),
    "run.started": lambda data: ("START", f"on {data['base'][:_HASH]}", True),
    "run.stop_asked": lambda data: ("STOP", f"asked: {data['reason']}", True),
    "run.pause_asked": lambda data: ("PAUSE", f"asked: {data['reason']}", True),
    "run.resume_asked": lambda _: ("RESUME", "asked to go on", True),
    "run.hastened": lambda _: ("RESUME", "asked to go on now", True),
    "schedule.set": lambda data: ("SCHEDULED", f"{data['cadence']}, {data['zone']}", True),
    "schedule.fired": lambda data: ("FIRES", f"its time was {data['slot']}", True),
    "schedule.deferred": _deferred,
    "schedule.moved": lambda data: ("CLOCK", f"it was put back; the schedule is due {data['next']}", True),
    "schedule.ended": lambda data: ("SCHEDULE", f"is over: {data['reason']}", True),
    "tests.resolved": _tests,
    "settings.changed": lambda data: (
        "SETTINGS",
        change_words(data["key"], data["before"], data["after"]),
        True,
    ),
    "workspace.made": lambda _: ("WORKSPACE", "made", False),
    "setup.done": _outcome("SETUP"),
    "baseline.done": _baseline,
    "phase.begun": lambda data: ("BEGIN", f"intent {str(data['intent'])[:15]}", False),
    "attempt.begun": lambda data: (
        str(data["role"]).upper(),
        f"attempt {data['number']}" + (f", {data['agent']}" if data.get("agent") else ""),
        True,
    ),
    "attempt.ended": _attempt_ended,
    "stage.judged": _judged,
    "task.judged": lambda data: (
        "JUDGED",
        "what was handed in holds" if data["outcome"] == "finished" else f"{data['outcome']}: {data['why']}",
        True,
    ),
    "task.posted": lambda data: ("POSTED", f"task {data['task']} is {data['status']}", True),
    "attempt.lost": lambda data: ("LOST", str(data["reason"]), True),
    "tree.refused": lambda data: ("TOO LARGE", str(data["reason"]), True),
    "tree.kept": lambda data: ("KEPT", f"tree {data['tree'][:_HASH]}", False),
    "attempt.let_go": lambda data: ("LET GO", f"attempt {data['number']}, {data['commit'][:_HASH]}", True),
    "checks.done": _checks,
    "verifier.begun": lambda data: ("VERIFY", f"another agent judges attempt {data['number']}", True),
    "verifier.ended": lambda data: ("VERIFIER", ": ".join(filter(None, map(data.get, _ENDING))), True),
    "drift.found": _drift,
    "verdict.given": _verdict,
    "phase.rechecked": _checks,
    "phase.proven": lambda data: ("PROVEN", data["commit"][:_HASH], True),
    "approval.asked": _approval,
    "approval.answered": _answer,
    "answer.taken": lambda data: (
        "TAKEN",
        f"what was said to the text before: {': '.join(filter(None, (data['answer'], data['note'])))}",
        True,
    ),
    "approval.put_off": lambda data: ("LATER", f"a{data['number']} is left open by {data['by']}", True),
    "review.asked": lambda data: (
        "REVIEW",
        f"a{data['question']} is pull request #{data['pull']}: {data['url']}",
        True,
    ),
    "review.closed": lambda data: ("REVIEW", f"{data['why']}; it is looked at no more", True),
    "plan.refining": lambda data: ("REFINE", f"{data['change']}, by {data['by']}", True),
    "draft.written": _draft,
    "draft.tried": lambda data: ("TRIED", f"checks of revision {data['number']}: {data['told']}", True),
    "plan.redrafted": lambda data: (
        "REDRAFT",
        f"attempt {data['attempt'].rpartition('.')[2]}, {data['agent']}: {data['ending']}",
        True,
    ),
    "plan.approved": lambda data: (
        "APPROVED",
        f"{'the edited text' if data['edited'] else 'the text'} {data['intent'][:15]}, by {data['by']}",
        True,
    ),
    "plan.carried": lambda data: (
        "APPROVED",
        f"still, with its numbers put right: {data['intent'][:15]}",
        True,
    ),
    "plan.filed": lambda data: ("WROTE", str(data["path"]), True),
    "journal.behind": lambda _: (
        "BEHIND",
        "the journal is of an earlier time; what was done since is found",
        True,
    ),
    "trouble.met": lambda data: (
        "TROUBLE",
        f"{data['what'].removesuffix('.')}, tried again {data['retry_at']}",
        True,
    ),
    "run.parked": _parked,
    "run.taken_over": lambda data: (
        "TAKEN OVER",
        f"worker {data['lost']} has not been heard of; {data['by']} goes on",
        True,
    ),
    "together.done": _outcome("TOGETHER"),
    "together.judging": lambda _: ("VERIFY", "another agent judges all phases together", True),
    "together.unjudged": lambda data: ("VERIFIER", ": ".join(filter(None, map(data.get, _ENDING))), True),
    "together.judged": _verdict,
    "report.written": lambda _: ("REPORT", "written", False),
    "landing.intended": lambda data: ("LANDING", f"{data['old'][:_HASH]}..{data['new'][:_HASH]}", False),
    "landing.done": lambda data: (
        "REVERTED" if data.get("reverts") else "LANDED",
        f"{data['branch']} {data['new'][:_HASH]}",
        True,
    ),
    "landing.refused": lambda data: (
        "NOT UNDONE" if data.get("reverts") else "NOT LANDED",
        str(data.get("what") or data.get("reason", "")),
        True,
    ),
    "landing.recovered": lambda data: ("RECOVERED", f"a landing that was cut off: {data['found']}", True),
    "landing.unsigned": lambda data: ("UNSIGNED", str(data["why"]), True),
    "landing.undone": lambda _: ("UNDONE", "what had landed is taken back", True),
    "landing.tidied": lambda data: ("TIDIED", f"{data['kept_in_all']} workspaces kept", False),
    "pull.seen": lambda data: ("PULL REQUEST", f"{data['state']}, checks {data['checks']}", False),
    "pull.intended": lambda data: ("PUSH", f"{data['head'][:_HASH]}, on {data['target'][:_HASH]}", False),
    "pull.pushed": lambda data: ("PUSHED", f"{data['branch']} {data['head'][:_HASH]}", True),
    "pull.blocked": lambda data: ("NOT PUSHED", f"{data['what']} {data['next']}", True),
    "pull.opening": lambda data: ("PROPOSE", f"{data['branch']} for {data['into']}", False),
    "pull.opened": lambda data: ("PROPOSED", f"#{data['number']} {data['url']}", True),
    "pull.mended": lambda data: ("MENDED", f"{data['repair'].replace('_', ' ')}, proven", True),
    "pull.merging": lambda data: ("MERGE", f"#{data['number']} {data['head'][:_HASH]}", False),
    "pull.merged": lambda data: ("MERGED", f"#{data['number']}", True),
    "pull.refused": lambda data: ("NOT MERGED", str(data["why"]), True),
    "pull.dropping": lambda data: ("DROP", f"{data['branch']} at the forge", False),
    "pull.invariants": lambda data: (
        "LEFT BEHIND" if data["broken"] else "IN ORDER",
        "; ".join((*data["broken"], *data["warned"])) or f"{data['held']} of {data['held']} invariants hold",
        bool(data["broken"]),
    ),
    "issue.held": lambda data: (
        "ISSUE",
        f"#{data['number']} is claimed by {data['plan']}; this run goes on, and does not hold it",
        True,
    ),
    "issues.telling": lambda data: ("ISSUES", ", ".join(f"#{one}" for one in data["numbers"]), False),
    "issues.told": lambda data: ("ISSUES", "; ".join(data["failed"]) or "told", bool(data["failed"])),
    "plan.marked": lambda _: ("MARKED", "the plan's outcomes are written", False),
    "phase.marked": lambda data: (
        "MARKED",
        f"{data['status']} by hand" + (f", item {data['item']}" if data.get("item") else ""),
        True,
    ),
    "plan.completed": lambda data: (
        "COMPLETE",
        "by hand" if data.get("by") == "hand" else "every phase of the plan is done",
        True,
    ),
    "plan.noted": lambda data: ("NOTE", f"{data['by']} tells the next attempt: {data['note']}", True),
    "plan.compared": lambda _: ("COMPARED", "the plan's text with what is proven", False),
    "plan.differs": lambda _: ("DIFFERS", "its text was changed in the plan after it was frozen", True),
    "signoff.wanted": lambda data: ("SIGN-OFF", str(data["question"]), False),
    "attention.called": lambda data: ("CALLED", f"you, by {data['way']}", False),
    # A landing has told of itself.
    "run.ended": lambda data: (data["state"].upper(), str(data.get("reason", "")), data["state"] != "landed"),
}
KINDS: Final = tuple(_WORDS)
"""Every kind of event that has words."""
