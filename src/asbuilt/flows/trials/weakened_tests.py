"""Run the base's tests, helpers, data and runner settings on the new code; report each test's result."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.flows.trials.allowance import Allowance, limit_of
from asbuilt.proof.counts import Counts, failures_in
from asbuilt.proof.evidence import last_lines
from asbuilt.proof.suites.path_roles import language_of
from asbuilt.proof.trials.depth import Trial
from asbuilt.proof.trials.lost_cases import NewTests
from asbuilt.proof.trials.test_text import blocks, differing_lines, is_same_but_for_names, like, own_name
from asbuilt.proof.trials.weakened_tests import (
    Helper,
    OldTest,
    Then,
    how_it_failed,
    message_of,
    states_in,
    values_in,
    words_for,
)

if TYPE_CHECKING:
    from asbuilt.flows.environments.results import Ran
    from asbuilt.flows.trials.suite import Trials

_WORDS: Final = re.compile(r"\w+")
_MOST: Final = 500
_LAST: Final = 40
_SHOWN: Final = 160
_ROW: Final = 2
"""Number of matching values in new lines that is no coincidence."""


class Olds(NamedTuple):
    """Results of the base's tests; the state is empty if no test files differ."""

    state: str = ""
    tests: tuple[OldTest, ...] = ()
    note: str = ""


def run_old_tests(trials: Trials, ran: Ran, base: Counts | None, allowance: Allowance) -> Olds:
    """Run the base's tests on the new code if tests, helpers or runner settings differ."""
    over = trials.of_base(ran)
    found = _run(trials, ran, over, allowance)
    if found is None:
        return Olds()
    old, is_narrow = found
    if old.cut_off is not None:
        # No result is needed to see that a test is gone.
        every = _Reading(trials, ran, old, over, base).tests(is_narrow=is_narrow)
        gone = tuple(test._replace(then="load") for test in every if test.is_gone)
        return Olds(
            "not loaded", gone[:_MOST], f"the base's tests on the new code: the run was {old.cut_off}"
        )
    if ran.counts is None:
        is_green = old.ended.exit_code == 0
        note = f"the base's tests on the new code: exit {old.ended.exit_code}"
        return Olds("green" if is_green else "not loaded", (), note)
    tests = _Reading(trials, ran, old, over, base).tests(is_narrow=is_narrow)
    loaded = old.counts is not None and old.counts.ran > 0
    red = any(test.then in ("red", "helper") for test in tests)
    failed = (old.counts.failed if old.counts else 0) - (base.failed if base else 0)
    clean = loaded and all(test.then == "passed" for test in tests) and (failed <= 0 or bool(tests))
    state = "red" if red else "green" if clean else "not loaded"
    worst = sorted(tests, key=lambda test: (test.then, test.now) == ("passed", "passed"))
    return Olds(state, tuple(worst[:_MOST]), words_for(tests, is_loaded=loaded))


def _run(
    trials: Trials, ran: Ran, over: Mapping[str, bytes | None], allowance: Allowance
) -> tuple[Ran, bool] | None:
    """Run old tests; also return whether only files that differ ran. None if none differ, or no time."""
    call, is_narrow = trials.old_call(ran, over, may_share=allowance.is_tight)
    if not over or (is_narrow and call is None):
        return None
    left_s = allowance.seconds(Trial.OLD_TESTS, is_narrow=is_narrow)
    if not left_s:
        return None
    tree, limit_s = trials.trees.tree, limit_of(left_s)
    run = partial(trials.environment.run, tree, ran.command, over=over, folder=trials.folder, limit_s=limit_s)
    old = run(call=call)
    if call is not None and ran.counts is not None and not (old.counts and old.counts.ran):
        # Files that are built first cannot be run by their names.
        return run(), False
    return old, is_narrow


def run_earlier_tests(
    trials: Trials,
    ran: Ran,
    starts: Sequence[str],
    counts_on: Callable[[str], Counts | None],
    allowance: Allowance,
) -> list[OldTest]:
    """Run the tests of earlier phases' starts on the new code: a phase since may have weakened them.

    Those that fail on this phase's base too are left out: an earlier phase broke them and was judged for it.
    So are those that are skipped, which a person was asked about.
    """
    found: dict[str, OldTest] = {}
    for start in starts:
        olds = run_old_tests(trials.since(start), ran, counts_on(start), allowance)
        failed = [old for old in olds.tests if old.then != "passed" and _is_judged(old)]
        if ran.counts is None and olds.state == "not loaded":
            failed = [OldTest(ran.command, "passed", "red", message=olds.note)]
        if any(old.name not in found for old in failed):
            then = trials.since(start, trials.base)
            on_base = _run(then, ran, then.of_base(ran), allowance)
            failed = [old for old in failed if on_base is None or _passed(old.name, on_base[0])]
            found = {old.name: old._replace(earlier=True) for old in failed} | found
    return [*found.values()]


def _is_judged(old: OldTest) -> bool:
    """Return whether a failure counts: of a test that is gone only a failed assertion, as of a merged one."""
    return old.now == "passed" or bool(old.like) or (old.now, old.then) == ("absent", "red")


def _passed(name: str, ran: Ran) -> bool:
    counts = ran.counts
    if counts is None:
        return ran.ended.exit_code == 0
    state = states_in(counts).get(name)
    return state == "passed" or (state is None and not counts.passed)


class _Reading:
    """Results of the base's tests in two runs, with the texts that differ."""

    def __init__(
        self, trials: Trials, ran: Ran, old: Ran, over: Mapping[str, bytes | None], base: Counts | None
    ) -> None:
        self._trials, self._ran = trials, ran
        self._now, self._old, self._base = ran.counts, old.counts, base
        self._now_states, self._old_states = states_in(ran.counts), states_in(old.counts)
        self._output = old.ended.output
        self._report = failures_in(old.report) if old.report else {}
        self._before = {
            path: content.decode("utf-8", "replace") for path, content in over.items() if content is not None
        }
        self._after = {path: trials.trees.text_now(path) for path in over}
        self._helpers = {
            path: Helper(text, self._after[path]) for path, text in self._before.items() if language_of(path)
        }
        self._known = {*_WORDS.findall("\n".join(self._before.values()))}

    def tests(self, *, is_narrow: bool) -> list[OldTest]:
        """List the tests of the base that differ, do not pass, or no longer exist."""
        passed = dict.fromkeys(name.partition("[")[0] for name in (self._base.passed if self._base else ()))
        if self._base and not passed:
            # The runner names only failures: a test that did not fail on the base passed there.
            failed = self._old.failures if self._old else ()
            passed = dict.fromkeys(name for name in failed if name not in self._base.failures)
        found = [self._one(name, is_narrow=is_narrow) for name in passed]
        return self._paired([old for old in found if old is not None])

    def _one(self, name: str, *, is_narrow: bool) -> OldTest | None:
        then, now = self._old_states.get(name), self._now_states.get(name)
        if now is None and self._now and not self._now.passed:
            now = "passed"
        touched = self._is_touched(own_name(name))
        # New failures of the suite are reported with the suite.
        if now == "failed" or (is_narrow and then is None and not touched):
            return None
        if (then, now) == ("passed", "passed") and not touched:
            return None
        path = self._path(own_name(name))
        message, body = self._failure_message(name) if then == "failed" else ("", "")
        how: Then = "passed" if then == "passed" else "load"
        if then == "failed":
            # A test's own assertion is not its helper's.
            others = {held: helper for held, helper in self._helpers.items() if held != path}
            how = how_it_failed(message, body, others)
        return OldTest(name, now or "absent", how, path, message_of(message, own_name(name)))

    def _failure_message(self, name: str) -> tuple[str, str]:
        reported = (self._report[case] for case in self._report if case.partition("[")[0] == name)
        found = next(reported, None)
        if found is not None:
            return found
        others = [own_name(error) for error in (self._old.failures if self._old else ()) if error != name]
        text = self._output.decode("utf-8", "replace")
        part = _part_about(text, own_name(name), others) or "\n".join(last_lines(self._output, _LAST))
        return part, part

    def _is_touched(self, own: str) -> bool:
        if any(path.endswith(f"/{own}") or path == own for path in self._before):
            return True
        words = _WORDS.findall(own)
        is_known = bool(words) and {*words} <= self._known
        return is_known and any(own in text for text in self._before.values())

    def _path(self, own: str) -> str:
        """Find the file of a test: among those that differ, else in the tree."""
        holding = (
            path for path, text in self._before.items() if own in text or f"/{path}".endswith(f"/{own}")
        )
        found = next(holding, "")
        return found or next(iter(self._trials.mentioning([own], self._ran)), own)

    def _paired(self, olds: Sequence[OldTest]) -> list[OldTest]:
        """Add the lines that differ, and for each test that is gone the test that replaced it."""
        # Both sides are cut at the same names: a test that failed before also ends the text of another.
        counts = [tally for tally in (self._base, self._now) if tally]
        names = {
            own_name(name) for count in counts for name in (*count.passed, *count.failures, *count.others)
        }
        names |= {own_name(old.name) for old in olds}
        before = {path: blocks(text, names, path) for path, text in self._before.items()}
        after = {path: blocks(text, names, path) for path, text in self._after.items()}
        known = {text.rstrip() for parts in before.values() for text in parts.values()}
        fresh = {
            own: text for parts in after.values() for own, text in parts.items() if text.rstrip() not in known
        }
        same = [text for parts in after.values() for text in parts.values() if text.rstrip() in known]
        changed = "\n".join(_without(text, same) for text in self._after.values())
        new = NewTests(self._before.values(), changed, "\n".join(self._after.values()))
        return [self._with_texts(old, before, after, fresh, new) for old in olds]

    def _with_texts(
        self,
        old: OldTest,
        before: Mapping[str, Mapping[str, str]],
        after: Mapping[str, Mapping[str, str]],
        fresh: Mapping[str, str],
        new: NewTests,
    ) -> OldTest:
        own = own_name(old.name)
        text = before.get(old.path, {}).get(own, "")
        is_moved = any(own in parts for parts in after.values())
        other = own if old.now != "absent" or is_moved else like(text, fresh, own) or self._tabled(text, own)
        now = next((parts[other] for parts in after.values() if other in parts), "")
        was, became = differing_lines(text, now)
        same = bool(text) and is_same_but_for_names(text, now)
        lost = new.lost(text, by_names=old.then != "load") if text.rstrip() != now.rstrip() else ""
        name = "" if old.now != "absent" else other
        return old._replace(was=was, became=became, like=name, renamed=same, lost=lost[:_SHOWN])

    def _tabled(self, text: str, own: str) -> str:
        """Return the file whose new lines have all values of a test that is gone: it became a table row."""
        values = values_in(text.replace(own, ""))
        for path, now in self._after.items():
            _, added = differing_lines(self._before.get(path, ""), now)
            if len(values) >= _ROW and values <= values_in(added):
                return path
        return ""


def _without(text: str, parts: Sequence[str]) -> str:
    for part in parts:
        text = text.replace(part, "")
    return text


def _part_about(text: str, own: str, others: Sequence[str]) -> str:
    """Cut out what was printed about one failed test: from lines with its name to lines with another's."""
    lines = text.splitlines()
    mark = re.compile(rf"(?<!\w){re.escape(own)}(?!\w)")
    stop = re.compile("|".join(rf"(?<!\w){re.escape(other)}(?!\w)" for other in others)) if others else None
    found: list[str] = []
    inside = 0
    for line in lines:
        if mark.search(line):
            inside = _LAST
        elif stop is not None and stop.search(line):
            inside = 0
        if inside:
            found.append(line)
            inside -= 1
    return "\n".join(found)
