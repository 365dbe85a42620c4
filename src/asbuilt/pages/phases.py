"""One phase on the page: promises and evidence, checks, trials of the test run, attempts.

Rule: an agent's statements are in quotation marks and are never a reason for green.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from asbuilt.lifecycle.run.money import total
from asbuilt.lifecycle.status.report import EDITED, Account, AttemptAccount, PhaseAccount
from asbuilt.pages import document as doc
from asbuilt.pages.failing import failure_blocks
from asbuilt.pages.times import lasting, seconds
from asbuilt.proof.opinion import QUESTIONS, Answer, words_of
from asbuilt.proof.remarks import Remark, failing
from asbuilt.proof.suites.model import Severity
from asbuilt.proof.verdict import ItemVerdict, Promise

if TYPE_CHECKING:
    from asbuilt.events.event import Outcome
    from asbuilt.proof.drift.drift import Number
    from asbuilt.proof.evidence import Evidence
    from asbuilt.proof.failure import Failure

HASH: Final = 10
_NAMED: Final = 12
_CITED: Final = ("the check ", "the test ", "the removal of ")
_TONES: Final[dict[Outcome, doc.Tone]] = {
    "PASS": "proven",
    "FAIL": "failed",
    "NOT_RUN": "open",
    "INDETERMINATE": "open",
}
_SEVERE: Final[dict[Severity, tuple[str, doc.Tone]]] = {
    Severity.FAILS: ("fails", "failed"),
    Severity.SIGN_OFF: ("for a person", "open"),
    Severity.NOTE: ("note", "plain"),
    Severity.ALLOWED: ("ordered by the plan", "plain"),
}


def counted(number: int, one: str, many: str = "") -> str:
    """Format a count with its noun in singular or plural."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def codes(names: Sequence[str]) -> doc.Words:
    """List names, at most 12."""
    shown: list[str | doc.Code] = []
    for name in names[:_NAMED]:
        shown += [", ", doc.Code(name)] if shown else [doc.Code(name)]
    return (*shown, f" and {len(names) - _NAMED} more") if len(names) > _NAMED else tuple(shown)


def plan_words(text: str) -> doc.Words:
    """Return a plan's text, with its backticked parts as code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return (text,)
    return tuple(doc.Code(part) if at % 2 else part for at, part in enumerate(parts) if part)


def state_of(phase: PhaseAccount) -> doc.Mark:
    """Return the state of a phase."""
    if phase.rechecked:
        holds = all(one.outcome == "PASS" for one in phase.rechecked)
        return doc.Mark("holds", "proven") if holds else doc.Mark("does not hold", "failed")
    if phase.proven is None:
        return doc.Mark("not proven", "failed" if phase.judged else "open")
    if phase.waived:
        return doc.Mark(f"proven, {len(phase.waived)} waived", "open")
    return doc.Mark("proven", "proven")


def phase_section(account: Account, phase: PhaseAccount, *, is_folded: bool) -> doc.Section:
    """Describe a phase."""
    judged = phase.judged
    blocks: list[doc.Block] = [doc.Paragraph(_facts(account, phase))]
    blocks += _promises(phase, judged)
    blocks += _answers(judged)
    blocks += _checks(phase.evidence, account.failures)
    blocks += _trials(phase.evidence)
    blocks += _numbers(judged)
    blocks += _titled("Claims about numbers", (doc.Point((claim,)) for claim in phase.claims))
    blocks += _noticed(phase)
    blocks += _titled("Attempts", (_attempt(account, phase, one) for one in reversed(phase.attempts)))
    blocks += _repeat(account, phase)
    return doc.Section((f"Phase {phase.id}: ", phase.title, " ", state_of(phase)), tuple(blocks), is_folded)


def _titled(title: str, points: Iterable[doc.Point]) -> Iterator[doc.Block]:
    """Put points under a heading; without points there is neither."""
    listed = tuple(points)
    if listed:
        yield doc.Heading((title,))
        yield doc.Points(listed)


def whole_section(account: Account, whole: AttemptAccount) -> doc.Section:
    """Describe the proof of all phases together."""
    promised = tuple(Promise(item.text) for item in whole.items)
    together = PhaseAccount("", "", promised, (whole,), None, None)
    is_proven = whole.ending == "PASS" and bool(whole.items) and not failures_of(whole)
    blocks = [*_promises(together, whole), *_checks(whole.evidence, account.failures)]
    mark = doc.Mark("proven", "proven") if is_proven else doc.Mark("not proven", "failed")
    return doc.Section(("All phases together ", mark), tuple(blocks), is_proven)


def _facts(account: Account, phase: PhaseAccount) -> doc.Words:
    words: list[str | doc.Code] = []
    if phase.landed:
        words += ["Landed as ", doc.Code(phase.landed[:HASH])]
        if phase.proven and phase.proven != phase.landed:
            words += [", proven as ", doc.Code(phase.proven[:HASH])]
    elif phase.proven:
        words += ["Proven as ", doc.Code(phase.proven[:HASH])]
    else:
        words += ["Nothing of it was committed"] if phase.attempts else ["No agent worked on it in this run"]
    spent_s = sum(seconds(one.began, one.ended) for one in account.spans if one.phase == phase.id)
    used = total(one.spent for one in phase.attempts)
    spent = [
        counted(len(phase.attempts), "attempt") if phase.attempts else "",
        lasting(spent_s) if spent_s else "",
        used.words if used.brief else "",
    ]
    words += [f". {told}." if (told := ", ".join(filter(None, spent))) else "."]
    if phase.intent:
        frozen = doc.Code(phase.intent.removeprefix("sha256:")[:HASH])
        words += [" Judged against the text frozen as ", frozen, "."]
    if phase.is_edited:
        words.append(f" Note: {EDITED}.")
    return tuple(words)


def _promises(phase: PhaseAccount, judged: AttemptAccount | None) -> Iterator[doc.Block]:
    found = {item.item: item for item in (judged.items if judged else ())}
    numbered = [*enumerate(phase.promised, 1)]
    for title, is_criterion in (("Promised", False), ("Acceptance criteria", True)):
        listed = [number for number, promise in numbered if promise.is_criterion == is_criterion]
        yield from _titled(title, [_promise(phase, judged, one, found.get(one)) for one in listed])


def _promise(
    phase: PhaseAccount, judged: AttemptAccount | None, number: int, item: ItemVerdict | None
) -> doc.Point:
    text = phase.promised[number - 1].text
    waived = next((one for one in phase.waived if one.item == number), None)
    below: list[doc.Words] = []
    if waived is not None:
        below.append(("Accepted unmet on ", waived.on, ". ", doc.Said(waived.by, waived.reason)))
    if item is None:
        return doc.Point((doc.Mark("NOT_RUN", "open"), f" {number}. ", *plan_words(text)), tuple(below))
    if item.evidence:
        below.append(
            ("Looked up and found: " if item.outcome == "PASS" else "Cited: ", *_cited(item.evidence))
        )
    if item.why:
        below.append(_why(judged, item))
    if waived is not None:
        mark = doc.Mark(f"{item.outcome}, WAIVED", "open")
    elif item.outcome == "PASS" and not item.evidence:
        # A journal of an earlier version holds only the verifier's statement.
        mark = doc.Mark("PASS", "plain")
    else:
        mark = doc.Mark(item.outcome, _TONES[item.outcome])
    return doc.Point((mark, f" {number}. ", *plan_words(text)), tuple(below))


def _why(judged: AttemptAccount | None, item: ItemVerdict) -> doc.Words:
    """Return the reason, quoted if it is the verifier's; without an opinion all but NOT_RUN is quoted."""
    opinion = judged.opinion if judged else None
    if opinion is None:
        is_said = item.outcome != "NOT_RUN"
    else:
        is_said = any(entry.item == item.item and entry.why == item.why for entry in opinion.entries)
    return (doc.Said("the verifier", item.why),) if is_said else (f"asbuilt: {item.why}",)


def _answers(judged: AttemptAccount | None) -> Iterator[doc.Block]:
    answers = judged.opinion.answers if judged and judged.opinion else ()
    return _titled("Looked for by the verifier", map(_answer, answers))


def _answer(answer: Answer) -> doc.Point:
    mark = doc.Mark("found", "open") if answer.found else doc.Mark("none", "plain")
    where = (" at ", doc.Code(words_of(answer.place))) if answer.place else ()
    said = ((doc.Said("the verifier", answer.why),),) if answer.why else ()
    return doc.Point((mark, f" {QUESTIONS[answer.question]}", *where), said)


def _cited(evidence: Sequence[str]) -> Iterator[str | doc.Code]:
    for number, words in enumerate(evidence):
        if number:
            yield ", "
        lead = next((one for one in _CITED if words.startswith(one)), "")
        yield from (lead,) if lead else ()
        yield doc.Code(words.removeprefix(lead).strip("`"))


def _checks(evidence: Sequence[Evidence], failures: Mapping[str, Failure]) -> Iterator[doc.Block]:
    if not evidence:
        return
    yield doc.Heading(("Checks, run by asbuilt on a clean checkout",))
    yield doc.Table(
        ("check", "outcome", "exit", "ran", "skipped", "failed", "took", "tree"),
        tuple(_check(one) for one in evidence),
    )
    for one in evidence:
        if one.output in failures and one.outcome != "PASS":
            yield from failure_blocks(failures[one.output])


def _check(one: Evidence) -> tuple[doc.Words, ...]:
    why: doc.Words = (" ", one.why) if one.outcome != "PASS" and one.why else ()
    numbers = (one.exit_code, one.ran, one.skipped, one.failed)
    return (
        (doc.Code(one.command),),
        (doc.Mark(one.outcome, _TONES[one.outcome]), *why),
        *((() if number is None else (str(number),)) for number in numbers),
        ("shown before" if one.reused else lasting(one.duration_s),),
        (doc.Code(one.tree[:HASH]),),
    )


def _trials(evidence: Sequence[Evidence]) -> Iterator[doc.Block]:
    points = []
    for one in evidence:
        points += [doc.Point((note,)) for note in one.notes]
        for title, names in (
            ("Pass with this phase's work and fail without it", one.proves),
            ("Also pass on the base, and prove nothing about this phase", one.idle),
            ("Failed before this phase too, and count as old", one.old_failures),
            ("Fail, and did not before", one.new_failures),
        ):
            if names:
                told = f"{title}: {counted(len(names), 'test')}."
                points.append(doc.Point((told,), (codes(names),)))
    return _titled("How the test run was tried", points)


def _numbers(judged: AttemptAccount | None) -> Iterator[doc.Block]:
    if judged and judged.numbers:
        yield doc.Heading(("Numbers, measured by asbuilt",))
        yield doc.Table(
            ("criterion", "stated", "measured", "by", "holds"),
            tuple(
                (plan_words(one.text), (one.stated,), (str(one.actual),), (doc.Code(one.by),), (_holds(one),))
                for one in judged.numbers
            ),
        )


def _holds(number: Number) -> doc.Mark:
    if not number.holds:
        return doc.Mark(f"{number.off_pct} % off", "failed")
    return doc.Mark(f"{number.off_pct} % off", "plain") if number.off_pct else doc.Mark("holds", "proven")


def _noticed(phase: PhaseAccount) -> Iterator[doc.Block]:
    remarks = phase.judged.remarks if phase.judged else ()
    points = (_remark(one, phase.signed.get(one.key, "")) for one in remarks)
    return _titled("Noticed about the changes", points)


def _remark(one: Remark, signed: str) -> doc.Point:
    word, tone = _SEVERE[one.severity]
    below: list[doc.Words] = []
    if one.was:
        below.append(("Before: ", doc.Code(one.was)))
    if one.now:
        below.append(("Now: ", doc.Code(one.now)))
    if one.cited:
        below.append(("The plan orders it: ", one.cited))
    if one.severity is Severity.SIGN_OFF:
        below.append(("Signed off: ", signed or "not yet"))
    return doc.Point(
        (doc.Mark(word, tone), f" {one.rule.replace('-', ' ')}, ", doc.Code(one.place)), tuple(below)
    )


def _attempt(account: Account, phase: PhaseAccount, one: AttemptAccount) -> doc.Point:
    by = f" by {one.agent}" if one.agent else ""
    took = f", {lasting(seconds(one.began_at, one.ended_at))}" if one.ended_at else ""
    cost = f", {one.spent.words}" if one.spent.brief else ""
    ending = "says that it is done" if one.ending == "done" else one.ending
    reason = f": {one.reason}" if one.reason and one.ending != "done" else ""
    below: list[doc.Words] = [(doc.Said(one.agent or "the agent", one.says),)] if one.says else []
    below += [(f"Note from a person: {note}",) for note in one.notes]
    below += [(f"The sandbox refused it {host}",) for host in one.refused]
    below += failures_of(one)
    if one.kept:
        name = f"{account.name}.{phase.id}.{one.number}"
        below.append(("Kept: ", doc.Code(f"asbuilt log {name} --patch"), " shows ", doc.Code(one.kept)))
    return doc.Point((f"Attempt {one.number}, {one.role}{by}{took}{cost}: {ending}{reason}",), tuple(below))


def failures_of(attempt: AttemptAccount) -> list[doc.Words]:
    """Describe what kept an attempt from being proven, and who found it."""
    found: list[doc.Words] = [(f"asbuilt noticed: {one.words}",) for one in failing(attempt.remarks)]
    found += [
        ("asbuilt ran ", doc.Code(check.command), f": {check.outcome}, {check.why}")
        for check in attempt.evidence
        if check.outcome != "PASS"
    ]
    found += [(f"asbuilt on the verdict: {fault}",) for fault in attempt.faults]
    found += [
        (f"item {item.item}: {item.outcome}. ", *_why(attempt, item))
        for item in attempt.items
        if item.outcome != "PASS" and not item.waived
    ]
    return found


def _repeat(account: Account, phase: PhaseAccount) -> Iterator[doc.Block]:
    """List the commands that repeat every check by hand, in a clone that has the commit."""
    last = phase.judged
    commit = (phase.landed or phase.proven or "")[:HASH] or (last.kept if last else None)
    if commit is None or not phase.evidence:
        return
    folder = f"../{account.slug}-{phase.id}"
    lines = [shlex.join(("git", "worktree", "add", "--detach", folder, commit)), shlex.join(("cd", folder))]
    back = dict.fromkeys(path for one in phase.evidence for path in one.put_back)
    lines += [shlex.join(("git", "checkout", "HEAD^", "--", *back))] if back else []
    lines += [account.setup] if account.setup else []
    lines += dict.fromkeys(one.command for one in phase.evidence)
    yield doc.Heading(("Repeat it by hand",))
    yield doc.Listing("\n".join(line.replace("\n", " ") for line in lines))
