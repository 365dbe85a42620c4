"""What to know before trusting a run: refuted claims, waivers, and what was not shown. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from asbuilt.pages.document import Code, Mark, Said, Words
from asbuilt.pages.phases import codes, counted, failures_of, plan_words
from asbuilt.proof.remarks import for_a_person

if TYPE_CHECKING:
    from asbuilt.lifecycle.status.report import Account, PhaseAccount
    from asbuilt.proof.evidence import Evidence

_NAMED: Final = 5


def to_know(account: Account) -> list[tuple[str, Words]]:
    """List the remarks, each with its phase, or with none for the run as a whole."""
    known = [("", words) for words in _of_run(account)]
    known += [(phase.id, words) for phase in account.phases for words in _of_phase(phase)]
    return known


def _of_run(account: Account) -> Iterator[Words]:
    if account.ring == "none":
        yield (
            Mark("no sandbox", "open"),
            " Nothing but their own manners held agents and checks on this machine.",
        )
    if account.advice is not None:
        why, command = account.advice
        yield Mark("drift", "open"), f" {why}: ", Code(command)
    if account.kind == "run" and account.tests is None and account.phases:
        yield (Mark("no tests", "open"), " The project has no test command: only the phases' checks ran.")


def _of_phase(phase: PhaseAccount) -> Iterator[Words]:
    for one in phase.waived:
        yield (
            Mark("waived", "open"),
            f" item {one.item}, ",
            *plan_words(one.text),
            ". ",
            Said(one.by, one.reason),
        )
    for attempt in phase.attempts:
        failures = failures_of(attempt)
        if failures and attempt.ending == "done":
            says: Words = (Said(attempt.agent or "the agent", attempt.says), " But ") if attempt.says else ()
            yield Mark("refuted", "failed"), f" attempt {attempt.number}. ", *says, *failures[0]
        elif attempt.was_cut_off:
            told = f" attempt {attempt.number}: {attempt.ending}, {attempt.reason}"
            yield Mark("restarted", "plain"), told
    wanted = for_a_person(phase.judged.remarks if phase.judged else ())
    unsigned = [remark for remark in wanted if remark.key not in phase.signed]
    for remark in unsigned[:_NAMED]:
        yield Mark("sign-off", "open"), f" {remark.rule.replace('-', ' ')}, ", Code(remark.place)
    if len(unsigned) > _NAMED:
        yield Mark("sign-off", "open"), f" and {len(unsigned) - _NAMED} more"
    for shown in phase.evidence:
        yield from _of_suite(shown)


def _of_suite(shown: Evidence) -> Iterator[Words]:
    if not shown.is_suite or shown.outcome != "PASS":
        return
    if shown.put_back:
        yield Mark("put back", "open"), " the tests ran with the base's ", *codes(shown.put_back)
    if shown.idle and not shown.proves:
        told = f" {counted(len(shown.idle), 'new or changed test')} would pass without its work too"
        yield Mark("nothing new shown", "plain"), told, ", and no test of it fails without"
    if shown.old_failures:
        yield (
            Mark("old failures", "plain"),
            f" {counted(len(shown.old_failures), 'test')} failed before as well",
        )
