"""One phase on the page: promises and evidence, checks, trials of the test run, attempts.

Rule: an agent's statements are in quotation marks and are never a reason for green.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from asbuilt.events.event import Outcome
from asbuilt.lifecycle.run.money import total
from asbuilt.lifecycle.status.report import Account, AttemptAccount, PhaseAccount, SignOff
from asbuilt.lifecycle.status.run_state import EDITED
from asbuilt.pages import document as doc
from asbuilt.pages.failure import failure_blocks
from asbuilt.pages.times import lasting, seconds
from asbuilt.proof.evidence import Evidence
from asbuilt.proof.opinion import QUESTIONS, Answer, words_of
from asbuilt.proof.remarks import Remark, failing
from asbuilt.proof.suites.model import Severity
from asbuilt.proof.verdict import ItemVerdict, Promise

if TYPE_CHECKING:
    from asbuilt.proof.drift.measured_numbers import Number
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


def counted(number: int, singular: str, many: str = "") -> str:
    """Format a count with its noun in singular or plural."""
    return f"{number} {singular if number == 1 else many or singular + 's'}"


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
        holds = all(check.outcome == "PASS" for check in phase.rechecked)
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
    blocks += _titled("Attempts", (_attempt(account, phase, attempt) for attempt in reversed(phase.attempts)))
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
    if whole.ending == "PASS" and not whole.items and whole.opinion is None and not whole.faults:
        # No verifier judges a part of a plan.
        mark = doc.Mark("checks pass", "proven")
    else:
        mark = doc.Mark("proven", "proven") if is_proven else doc.Mark("not proven", "failed")
    return doc.Section(("All phases together ", mark), tuple(blocks), is_proven)


def _facts(account: Account, phase: PhaseAccount) -> doc.Words:
    words: list[str | doc.Code] = []
    if phase.landed:
        words += ["Landed as ", doc.Code(phase.landed[:HASH])]
        if phase.proven and phase.proven != phase.landed:
            words += [", proven as ", doc.Code(phase.proven[:HASH])]
    elif phase.proven:
        words += ["Proven as ", doc.Code(phase.proven[:HASH]), f", by {phase.run}" if phase.run else ""]
    else:
        words += ["Nothing of it was committed"] if phase.attempts else ["No agent worked on it in this run"]
    spent_s = sum(seconds(span.began, span.ended) for span in account.spans if span.phase == phase.id)
    used = total(attempt.spent for attempt in phase.attempts)
    spent = [
        counted(len(phase.attempts), "attempt") if phase.attempts else "",
        lasting(spent_s) if spent_s else "",
        used.words if used.brief else "",
    ]
    words += [f". {amounts}." if (amounts := ", ".join(filter(None, spent))) else "."]
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
        yield from _titled(
            title, [_promise(phase, judged, listed_item, found.get(listed_item)) for listed_item in listed]
        )


def _promise(
    phase: PhaseAccount, judged: AttemptAccount | None, number: int, item: ItemVerdict | None
) -> doc.Point:
    text = phase.promised[number - 1].text
    waived = next((waiver for waiver in phase.waived if waiver.item == number), None)
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
    quotes = ((doc.Said("the verifier", answer.why),),) if answer.why else ()
    return doc.Point((mark, f" {QUESTIONS[answer.question]}", *where), quotes)


def _cited(evidence: Sequence[str]) -> Iterator[str | doc.Code]:
    for number, words in enumerate(evidence):
        if number:
            yield ", "
        lead = next((prefix for prefix in _CITED if words.startswith(prefix)), "")
        yield from (lead,) if lead else ()
        yield doc.Code(words.removeprefix(lead).strip("`"))


def _checks(evidence: Sequence[Evidence], failures: Mapping[str, Failure]) -> Iterator[doc.Block]:
    if not evidence:
        return
    yield doc.Heading(("Checks, run by asbuilt on a clean checkout",))
    yield doc.Table(
        ("check", "outcome", "exit", "ran", "skipped", "failed", "took", "tree"),
        tuple(_check(check) for check in evidence),
    )
    for check in evidence:
        if check.output in failures and check.outcome != "PASS":
            yield from failure_blocks(failures[check.output])


def _check(check: Evidence) -> tuple[doc.Words, ...]:
    why: doc.Words = (" ", check.why) if check.outcome != "PASS" and check.why else ()
    numbers = (check.exit_code, check.ran, check.skipped, check.failed)
    return (
        (doc.Code(check.command),),
        (doc.Mark(check.outcome, _TONES[check.outcome]), *why),
        *((() if number is None else (str(number),)) for number in numbers),
        ("shown before" if check.reused else lasting(check.duration_s),),
        (doc.Code(check.tree[:HASH]),),
    )


def _trials(evidence: Sequence[Evidence]) -> Iterator[doc.Block]:
    points = []
    for check in evidence:
        points += [doc.Point((note,)) for note in check.notes]
        for title, names in (
            ("Pass with this phase's work and fail without it", check.proves),
            ("Also pass on the base, and prove nothing about this phase", check.idle),
            ("Failed before this phase too, and count as old", check.old_failures),
            ("Fail, and did not before", check.new_failures),
        ):
            if names:
                summary = f"{title}: {counted(len(names), 'test')}."
                points.append(doc.Point((summary,), (codes(names),)))
    return _titled("How the test run was tried", points)


def _numbers(judged: AttemptAccount | None) -> Iterator[doc.Block]:
    if judged and judged.numbers:
        yield doc.Heading(("Numbers, measured by asbuilt",))
        yield doc.Table(
            ("criterion", "stated", "measured", "by", "holds"),
            tuple(
                (
                    plan_words(number.text),
                    (number.stated,),
                    (str(number.actual),),
                    (doc.Code(number.by),),
                    (_holds(number),),
                )
                for number in judged.numbers
            ),
        )


def _holds(number: Number) -> doc.Mark:
    if not number.holds:
        return doc.Mark(f"{number.off_pct} % off", "failed")
    return doc.Mark(f"{number.off_pct} % off", "plain") if number.off_pct else doc.Mark("holds", "proven")


def _noticed(phase: PhaseAccount) -> Iterator[doc.Block]:
    remarks = phase.judged.remarks if phase.judged else ()
    points = (_remark(remark, phase.signed.get(remark.key)) for remark in remarks)
    return _titled("Noticed about the changes", points)


def _remark(remark: Remark, signed: SignOff | None) -> doc.Point:
    word, tone = _SEVERE[remark.severity]
    below: list[doc.Words] = []
    if remark.was:
        below.append(("Before: ", remark.was if remark.is_said else doc.Code(remark.was)))
    if remark.now:
        below.append(("Now: ", remark.now if remark.is_said else doc.Code(remark.now)))
    if remark.cited:
        below.append(("The plan orders it: ", remark.cited))
    if remark.severity is Severity.SIGN_OFF:
        below.append(("Signed off: ", signed.words if signed else "not yet"))
    return doc.Point(
        (doc.Mark(word, tone), f" {remark.rule.replace('-', ' ')}, ", doc.Code(remark.place)), tuple(below)
    )


def _attempt(account: Account, phase: PhaseAccount, attempt: AttemptAccount) -> doc.Point:
    by = f" by {attempt.agent}" if attempt.agent else ""
    took = f", {lasting(seconds(attempt.began_at, attempt.ended_at))}" if attempt.ended_at else ""
    cost = f", {attempt.spent.words}" if attempt.spent.brief else ""
    ending = "says that it is done" if attempt.ending == "done" else attempt.ending
    reason = f": {attempt.reason}" if attempt.reason and attempt.ending != "done" else ""
    below: list[doc.Words] = [(doc.Said(attempt.agent or "the agent", attempt.says),)] if attempt.says else []
    below += [(f"Note from a person: {note}",) for note in attempt.notes]
    below += [(f"The sandbox refused it {host}",) for host in attempt.refused]
    below += failures_of(attempt)
    if attempt.kept:
        name = f"{phase.run or account.name}.{phase.id}.{attempt.number}"
        below.append(("Kept: ", doc.Code(f"asbuilt log {name} --patch"), " shows ", doc.Code(attempt.kept)))
    return doc.Point(
        (f"Attempt {attempt.number}, {attempt.role}{by}{took}{cost}: {ending}{reason}",), tuple(below)
    )


def failures_of(attempt: AttemptAccount) -> list[doc.Words]:
    """Describe what kept an attempt from being proven, and who found it."""
    found: list[doc.Words] = [(f"asbuilt noticed: {remark.words}",) for remark in failing(attempt.remarks)]
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
    return found or [(f"asbuilt sees: {failure}",) for failure in attempt.failures]


def _repeat(account: Account, phase: PhaseAccount) -> Iterator[doc.Block]:
    """List the commands that repeat every check by hand, in a clone that has the commit."""
    last = phase.judged
    commit = (phase.landed or phase.proven or "")[:HASH] or (last.kept if last else None)
    if commit is None or not phase.evidence:
        return
    folder = f"../{account.slug}-{phase.id}"
    lines = [shlex.join(("git", "worktree", "add", "--detach", folder, commit)), shlex.join(("cd", folder))]
    back = dict.fromkeys(path for check in phase.evidence for path in check.put_back)
    lines += [shlex.join(("git", "checkout", "HEAD^", "--", *back))] if back else []
    lines += [account.setup] if account.setup else []
    lines += dict.fromkeys(check.command for check in phase.evidence)
    yield doc.Heading(("Repeat it by hand",))
    yield doc.Listing("\n".join(line.replace("\n", " ") for line in lines))
