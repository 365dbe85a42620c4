"""A run's account as a document: state, what to know before trusting it, then the phases, newest first."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import tzinfo
from typing import Final

from asbuilt.lifecycle.status.report import Account, Decision, PhaseAccount, sums
from asbuilt.pages import document as doc
from asbuilt.pages.document import Code, Mark, Said, Words
from asbuilt.pages.drawing import DOINGS, edges, graph, timeline
from asbuilt.pages.failure import failure_blocks
from asbuilt.pages.html import html
from asbuilt.pages.markdown import markdown
from asbuilt.pages.phases import (
    HASH,
    codes,
    counted,
    failures_of,
    phase_section,
    plan_words,
    state_of,
    whole_section,
)
from asbuilt.pages.times import clock, lasting, moment, seconds, zone_of
from asbuilt.proof.evidence import Evidence
from asbuilt.proof.remarks import for_a_person

_NAMED: Final = 5


def to_know(account: Account) -> list[tuple[str, Words]]:
    """List the remarks, each with its phase, or with none for the run as a whole."""
    known = [("", words) for words in _of_run(account)]
    known += [(phase.id, words) for phase in account.phases for words in _of_phase(phase)]
    return known


def _of_run(account: Account) -> Iterator[Words]:
    if account.sandbox_level == "none":
        yield Mark("no sandbox", "open"), " Agents and checks ran without a sandbox."
    if account.advice is not None:
        why, command = account.advice
        yield Mark("drift", "open"), f" {why}: ", Code(command)
    for gap in account.gaps:
        yield Mark("gap", "open"), f" check: {gap}"
    if account.kind == "run" and account.tests is None and account.phases:
        yield (Mark("no tests", "open"), " The project has no test command: only the phases' checks ran.")


def _of_phase(phase: PhaseAccount) -> Iterator[Words]:
    for waived in phase.waived:
        quote = Said(waived.by, waived.reason)
        yield Mark("waived", "open"), f" item {waived.item}, ", *plan_words(waived.text), ". ", quote
    for attempt in phase.attempts:
        failures = failures_of(attempt)
        if failures and attempt.ending == "done":
            says: Words = (Said(attempt.agent or "the agent", attempt.says), " But ") if attempt.says else ()
            yield Mark("refuted", "failed"), f" attempt {attempt.number}. ", *says, *failures[0]
        elif attempt.was_cut_off:
            words = f" attempt {attempt.number}: {attempt.ending}, {attempt.reason}"
            yield Mark("restarted", "plain"), words
    wanted = for_a_person(phase.judged.remarks if phase.judged else ())
    for label, is_signed in (("sign-off", False), ("signed", True)):
        found = [remark for remark in wanted if (remark.key in phase.signed) == is_signed]
        for remark in found[:_NAMED]:
            by = f"{phase.signed[remark.key].lead}: " if is_signed else ""
            yield Mark(label, "open"), f" {by}{remark.rule.replace('-', ' ')}, ", Code(remark.place)
        if len(found) > _NAMED:
            yield Mark(label, "open"), f" and {len(found) - _NAMED} more"
    for shown in phase.evidence:
        yield from _of_suite(shown)


def _of_suite(shown: Evidence) -> Iterator[Words]:
    if not shown.is_suite or shown.outcome != "PASS":
        return
    if shown.put_back:
        yield (
            Mark("put back", "open"),
            " Tests ran with these files restored from the base: ",
            *codes(shown.put_back),
        )
    if shown.idle and not shown.proves:
        words = f" Also passing on the base: {counted(len(shown.idle), 'new or changed test')}"
        yield Mark("nothing new shown", "plain"), words, "; no test of this phase fails there"
    if shown.old_failures:
        words = f" {counted(len(shown.old_failures), 'test')} failed before as well"
        yield Mark("old failures", "plain"), words


_GOOD: Final = ("landed", "held", "proven", "done", "undone", "pr-ready")
_GONE: Final = ("failed", "stopped")


class Page:
    """The report of a run, as Markdown and as HTML."""

    def __init__(self, account: Account, zone: tzinfo | None) -> None:
        """Build the document; times are shown in `zone`, None is the machine's own."""
        self._document = report_document(account, zone)

    @property
    def markdown(self) -> str:
        """The report as Markdown."""
        return markdown(self._document)

    @property
    def html(self) -> str:
        """The report as one HTML file."""
        return html(self._document)


def report_document(account: Account, zone: tzinfo | None) -> doc.Document:
    """Build the document of an account."""
    known = to_know(account)
    blocks: list[doc.Block] = [doc.Figures(tuple(_figures(account)))]
    if account.state == "failed":
        blocks += _failure(account, zone)
    elif account.reason:
        blocks.append(doc.Paragraph((account.reason,)))
    if known:
        points = tuple(doc.Point((f"Phase {phase}: ", *words) if phase else words) for phase, words in known)
        blocks.append(doc.Section(("What to know",), (doc.Points(points),)))
    blocks += _drawings(account, zone)
    if account.whole is not None:
        blocks.append(whole_section(account, account.whole))
    blocks += _seen(account)
    notable = {phase for phase, _ in known}
    blocks += (
        phase_section(account, phase, is_folded=bool(phase.proven) and phase.id not in notable)
        for phase in account.phases
        if phase.id not in account.brief
    )
    blocks += _pull(account)
    blocks += _commits(account)
    blocks += _decisions(account, zone)
    blocks += _repeat(account)
    return doc.Document(
        title=account.title or account.slug,
        above=("Run ", doc.Code(account.name), " of ", doc.Code(account.plan)),
        below=_standing(account, zone),
        blocks=tuple(blocks),
        end=(
            "Written by asbuilt from its journal",
            f" on {moment(account.at, zone)} {zone_of(account.at, zone)}" if account.at else "",
            ". Green: checked by asbuilt. Quoted: said by an agent.",
        ),
    )


def _pull(account: Account) -> Iterator[doc.Block]:
    pull = account.pull
    if pull is None:
        return
    points: list[doc.Words] = [(f"#{pull.number}: ", doc.Code(pull.url))]
    if pull.mended:
        points.append((f"Fixed by an agent and proven: {counted(pull.mended, 'time')}",))
    if pull.broken is not None and not pull.broken:
        points.append((doc.Mark("in order", "proven"), ": nothing is left behind"))
    points += [(doc.Mark("left behind", "failed"), f": {check}") for check in pull.broken or ()]
    points += [(doc.Mark("to know", "open"), f": {warning}") for warning in pull.warned]
    yield doc.Section(("Pull request",), (doc.Points(tuple(doc.Point(point) for point in points)),))


def _standing(account: Account, zone: tzinfo | None) -> doc.Words:
    tone: doc.Tone = "plain"
    if account.state in _GOOD:
        is_clean = all(phase.proven and not phase.waived for phase in account.phases)
        tone = "proven" if is_clean and account.phases else "plain"
    elif account.state in _GONE:
        tone = "failed" if account.state == "failed" else "open"
    where = f" on {account.target}" if account.state == "landed" else ""
    commit: doc.Words = (", ", doc.Code(account.landed[-1].landed_as[:HASH])) if account.landed else ()
    when = account.ended_at or account.at
    at = f", {moment(when, zone)} {zone_of(when, zone)}" if when else ""
    return doc.Mark(account.state, tone), where, *commit, at


def _figures(account: Account) -> Iterator[doc.Figure]:
    total = sums(account)

    if total.items:
        yield _share(total.items_proven, total.items, "items proven", waived=total.waived)
    if total.checks:
        yield _share(total.checks_passed, total.checks, "checks passed")
    yield doc.Figure(str(total.waived), "waived", "open" if total.waived else "plain")
    yield doc.Figure(str(total.not_run), "not run", "open" if total.not_run else "plain")
    if account.began_at:
        yield doc.Figure(
            lasting(seconds(account.began_at, account.ended_at or account.at)), "from start to end"
        )
    if account.at_work_s is not None:
        yield doc.Figure(lasting(account.at_work_s), "of it at work")
    if account.spent.brief:
        yield doc.Figure(account.spent.brief, "at API prices")


def _share(part: int, whole: int, label: str, *, waived: int = 0) -> doc.Figure:
    tone: doc.Tone = "proven" if part == whole else "failed"
    return doc.Figure(f"{part} of {whole}", label, "open" if waived and part + waived == whole else tone)


def _failure(account: Account, zone: tzinfo | None) -> Iterator[doc.Block]:
    points: list[doc.Words] = []
    helped = any(failure.next_command for failure in account.failed[:1])
    unproven = [phase.id for phase in account.phases if phase.proven is None]
    if unproven:
        points.append(("Phase: ", unproven[0]))
    points.append(("What: ", account.reason))
    points.append(("State: ", *_kept_words(account), " Nothing was thrown away."))
    points += [("Kept: ", doc.Code(path)) for path in account.workspaces]
    if account.next_step and not helped:
        points.append(("Next: ", *plan_words(account.next_step)))
        points += [("Or: ", *plan_words(account.other))] if account.other else []
    points += [(f"{purpose}: ", doc.Code(command)) for purpose, command in _commands(account)]
    when = f" - {moment(account.at, zone)}" if account.at else ""
    failed = (block for failure in account.failed[:1] for block in failure_blocks(failure))
    yield doc.Section((f"Run failed{when}",), (doc.Points(tuple(map(doc.Point, points))), *failed))


def _kept_words(account: Account) -> doc.Words:
    words: list[str | doc.Code] = []
    if account.landed:
        words += [f"{counted(len(account.landed), 'phase')} landed on ", doc.Code(account.target)]
    if account.pending:
        words += ["; "] if words else []
        words += [f"{counted(len(account.pending), 'phase')} proven on ", doc.Code(account.branch)]
    return (*(words or ["nothing landed"]), ".")


def _commands(account: Account) -> Iterator[tuple[str, str]]:
    if account.kind == "undo":
        yield "Try again", f"asbuilt land {account.slug} --undo"
        return
    if account.kind == "run":
        yield "Try again", f"asbuilt run {account.slug}"
    if account.pending:
        yield "Land the proven phases", f"asbuilt land {account.slug}"


def _drawings(account: Account, zone: tzinfo | None) -> Iterator[doc.Block]:
    titles = {outlined.id: outlined.title for outlined in account.outline}
    if len(account.outline) > 1:
        tones: dict[str, doc.Tone] = {outlined.id: "plain" for outlined in account.outline}
        tones |= {phase.id: state_of(phase).tone for phase in account.phases}
        above: dict[str, list[str]] = {}
        for need, phase in edges(account.outline):
            above.setdefault(phase, []).append(need)
        points = tuple(
            doc.Point(
                (
                    f"{outlined.id} ",
                    outlined.title,
                    f", after {', '.join(above[outlined.id])}" if outlined.id in above else "",
                )
            )
            for outlined in account.outline
        )
        yield doc.Section(("Phases",), (doc.Drawing(graph(account.outline, tones), (doc.Points(points),)),))
    if account.spans:
        rows = tuple(
            (
                (span.phase or "run",),
                (span.what if span.what == DOINGS[span.doing] else f"{DOINGS[span.doing]}: {span.what}",),
                (clock(span.began, zone),),
                (lasting(seconds(span.began, span.ended)),),
            )
            for span in account.spans
        )
        table = doc.Table(("phase", "what", "began", "took"), rows)
        yield doc.Section(("Time",), (doc.Drawing(timeline(account.spans, titles, zone), (table,)),))


def _seen(account: Account) -> Iterator[doc.Block]:
    if not account.pictures and not account.pictured:
        return
    blocks: list[doc.Block] = []
    if account.pictured:
        blocks.append(doc.Paragraph((f"The command for pictures: {account.pictured}.",)))
    if account.pictures:
        blocks.append(doc.Pictures(account.pictures))
    yield doc.Section(("What people see",), tuple(blocks))


def _commits(account: Account) -> Iterator[doc.Block]:
    target, branch = doc.Code(account.target), doc.Code(account.branch)
    landed = [(landing.phase, landing.landed_as, landing.commit) for landing in account.landed]
    pending = [(work.phase, work.commit, work.commit) for work in account.pending]
    undone = [(landing.phase, landing.landed_as, landing.landed_as) for landing in account.undone]
    listed: tuple[tuple[doc.Words, list[tuple[str, str, str]]], ...] = (
        (("Landed on ", target), landed),
        (("Proven on ", branch, ", not landed"), pending),
        (("Taken back from ", target), undone),
    )
    for title, commits in listed:
        points = []
        for phase, landed_as, proven in commits:
            apart: doc.Words = () if landed_as == proven else (" (proven as ", doc.Code(proven[:HASH]), ")")
            points.append(doc.Point((f"Phase {phase}: ", doc.Code(landed_as[:HASH]), *apart)))
        if points:
            yield doc.Section(title, (doc.Points(tuple(points)),))


def _decisions(account: Account, zone: tzinfo | None) -> Iterator[doc.Block]:
    for title, is_sign_off in (("Sign-offs", True), ("Who decided", False)):
        found = [decision for decision in account.decisions if (decision.kind == "sign-off") == is_sign_off]
        if found:
            yield doc.Section((title,), (doc.Points(tuple(_decision(decision, zone) for decision in found)),))


def _decision(decision: Decision, zone: tzinfo | None) -> doc.Point:
    if not decision.answer:
        below: tuple[doc.Words, ...] = (("Not answered: ", doc.Code(f"asbuilt approve yes {decision.name}")),)
        return doc.Point(
            (doc.Mark("open", "open"), f" {decision.name}, {decision.kind}: ", decision.question), below
        )
    note: doc.Words = (" ", doc.Said("reason", decision.note)) if decision.note else ()
    below = ((f"{decision.by}, {moment(decision.at, zone)}.", *note),)
    return doc.Point(
        (doc.Mark(decision.answer, "plain"), f" {decision.name}, {decision.kind}: ", decision.question), below
    )


def _repeat(account: Account) -> Iterator[doc.Block]:
    points: list[doc.Words] = [("Tests: ", doc.Code(account.tests))] if account.tests else [("Tests: none",)]
    if account.setup:
        points.append(("Setup, once, before any agent's code was there: ", doc.Code(account.setup)))
    if account.baseline:
        points.append(("Before any work: ", account.baseline))
    if account.sandbox_level:
        unconfined = "none: the user's files and network were in reach"
        points.append(("Sandbox: ", unconfined if account.sandbox_level == "none" else account.sandbox_level))
    blocks: list[doc.Block] = [doc.Points(tuple(map(doc.Point, points)))]
    provers = dict.fromkeys(phase.run or account.name for phase in account.phases)
    if provers:
        blocks.append(doc.Paragraph(("Every check and verdict again, at the original commits:",)))
        blocks.append(doc.Listing("\n".join(f"asbuilt verify --replay {run}" for run in provers)))
    yield doc.Section(("Repeat it",), tuple(blocks))
