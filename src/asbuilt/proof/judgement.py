"""Judgement of a test run, a setup or a check: exit code, counts and report against the base. Pure.

Rule: only PASS passes; an unknown result is never rounded up.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.policy.sandbox.services import NOT_STARTED, REFUSAL
from asbuilt.proof.evidence import Evidence, last_lines

if TYPE_CHECKING:
    from asbuilt.events.event import Outcome
    from asbuilt.proof.counts import Counts

_LAST: Final = 5
_FILES: Final = 3
_WORDS: Final = re.compile(r"[\w-]+")
_TITLES: Final = re.compile(r"::| [>›] ")
"""Separators between a test's name and the titles around it."""
_PATH: Final = re.compile(r"\S+/\S+\.\w+")
_UNNAMED: Final = ("mod", "lib", "main", "__init__")
"""Files whose tests are named by their folder."""
_KILLED: Final = {137: "SIGKILL", 143: "SIGTERM"}
"""Exit codes of a command killed from outside. A crash of the product (SIGSEGV, SIGABRT) is not one."""
_SAYS_KILLED: Final = re.compile(r"(?:^|[\s\]:])Killed$|signal: 9, SIGKILL|exit (?:code|value|status) 137\b")
"""How build tools report that a program they started was killed, before they exit with their own code."""
_NO_SERVICE: Final = re.compile(REFUSAL.format(name=r"(\S+)", why="").encode())
"""Start of the output of a command that was not started because a service is missing."""
_INTO_A_FILTER: Final = re.compile(
    r"(?s)(.*[^|;&\s])\s*"
    r"(?:\|\s*(?:tee|cat|head|tail|less|more)\b|;\s*(?:echo|printf|true|:|exit 0)(?![\w-]))"
    r"(?:[^|;&]|>&)*"
)
"""A command whose last program passes on what it reads, or prints a text, and exits with 0 in any case."""
_NO_MATCH: Final = re.compile(r"(?:^|[|;&(]\s*)(?:git\s+)?(?:grep|rg|diff|cmp)\b[^|;&]*$")
_RANK: Final[dict[Outcome, int]] = {"PASS": 0, "NOT_RUN": 1, "INDETERMINATE": 2, "FAIL": 3}


class Judged(NamedTuple):
    """An outcome with its reason."""

    outcome: Outcome
    why: str
    new: tuple[str, ...] = ()
    old: tuple[str, ...] = ()


def cut_off(exit_code: int | None, output: bytes) -> str | None:
    """Return what cut a command off, so that it shows nothing about its tree; None if it ended normally."""
    if exit_code is None:
        return "ended by its time limit"
    if exit_code == NOT_STARTED and (refused := _NO_SERVICE.match(output)):
        return f"not started, because the service {refused[1].decode('utf-8', 'replace')} did not come up"
    if exit_code in _KILLED:
        return f"killed by {_KILLED[exit_code]}"
    is_killed = exit_code != 0 and any(_SAYS_KILLED.search(line) for line in last_lines(output, _LAST))
    return "killed by SIGKILL" if is_killed else None


def already_failing(ran: int | None, failed: int | None) -> str:
    """Describe the failures of a suite before any work; empty if there are none."""
    return f"{failed} of {ran} tests already fail" if failed and ran else ""


def is_red(ran: int | None, failed: int | None) -> bool:
    """Return whether every test of a suite fails."""
    return bool(failed) and failed == ran


def naming_failures(shown: Evidence, counts: Counts | None) -> Evidence:
    """Judge failures on the base: only their names distinguish them from new failures."""
    words = already_failing(shown.ran, shown.failed)
    if shown.outcome != "PASS" or not words or counts is None:
        return shown
    if counts.failed > len(counts.failures):
        unnamed = (
            f"{words}, and the runner does not name them, so new failures cannot be distinguished from"
            " old ones"
        )
        return shown._replace(outcome="INDETERMINATE", why=unnamed)
    return shown._replace(why=words)


def disagreement(
    exit_code: int | None, printed: Counts | None, reported: Counts | None, *, wants_report: bool
) -> str | None:
    """Describe how a runner's output, report and exit code contradict each other; None if they agree."""
    if exit_code is None:
        return None
    if exit_code == 0 and reported is not None and printed is not None and printed.hidden:
        return "exit 0, and an earlier summary of its output has failures"
    if wants_report and reported is None and printed is not None:
        return "the runner wrote no report, as it did on the base"
    if printed is None or reported is None:
        return None
    if bool(printed.failed) != bool(reported.failed):
        return f"its report says {reported.failed} failed, its output {printed.failed}"
    if not printed.failed and (printed.ran, printed.skipped) != (reported.ran, reported.skipped):
        in_report = f"{reported.ran} ran and {reported.skipped} skipped"
        return f"its report says {in_report}, its output {printed.ran} and {printed.skipped}"
    return None


def judge_tests(  # noqa: PLR0913  each of these is a fact about one run
    exit_code: int | None,
    counts: Counts | None,
    *,
    truncated: bool,
    baseline: Counts | None,
    may_shrink: bool = False,
    by_exit_code: bool = False,
    cut: str | None = None,
) -> Judged:
    """Judge a run of the test suite. New failures block; failures of the base are noted.

    `by_exit_code`: if its tests cannot be counted, exit 0 is enough, which is a weaker proof.
    `may_shrink`: tests were changed and compared one by one, so fewer or more skipped tests are ordered by
    the plan or equivalent. `cut` describes what cut the run off.
    """
    if exit_code is None or cut is not None:
        return Judged("INDETERMINATE", f"the test run was {cut or 'ended by its time limit'}")
    if counts is None:
        if exit_code != 0:
            return Judged("FAIL", f"exit {exit_code}, and no summary of the tests")
        if by_exit_code:
            return Judged("PASS", "exit 0; its tests are not counted")
        cut = "its output was cut" if truncated else "it printed no summary that could be read"
        return Judged("INDETERMINATE", f"exit 0, but {cut}")
    if counts.ran == 0:
        return Judged("NOT_RUN", "0 tests ran")
    if baseline is not None and counts.collected < baseline.collected and not may_shrink:
        gone = baseline.collected - counts.collected
        words = "1 test is gone" if gone == 1 else f"{gone} tests are gone"
        return Judged("FAIL", f"{words}: {baseline.collected} before, {counts.collected} now")
    if baseline is not None and counts.skipped > baseline.skipped and not may_shrink:
        return Judged("FAIL", f"{counts.skipped} skipped, {baseline.skipped} before")
    old = tuple(name for name in counts.failures if baseline and name in baseline.failures)
    new = tuple(name for name in counts.failures if name not in old)
    nameless = counts.failed - len(counts.failures)
    known = baseline.failed - len(baseline.failures) if baseline else 0
    if new or nameless > max(known, 0):
        many = len(new) or nameless
        words = "1 test fails" if many == 1 else f"{many} tests fail"
        return Judged("FAIL", f"{words} that did not before", new, old)
    if exit_code != 0 and not counts.failed:
        return Judged("FAIL", f"exit {exit_code}, though no test failed")
    if exit_code == 0 and counts.hidden and not (baseline and baseline.hidden):
        return Judged("FAIL", "exit 0, and an earlier summary of its output has failures")
    return Judged("PASS", f"{counts.ran} ran, {counts.skipped} skipped", (), old)


def removed_words(paths: Sequence[str]) -> str:
    """Name the test files that a phase removed, for the reason of a suite that fails."""
    more = f" and {len(paths) - _FILES} more" if len(paths) > _FILES else ""
    return f"; removed: {', '.join(paths[:_FILES])}{more}" if paths else ""


def has_as_many(before: Evidence | None, now: Counts | None) -> bool:
    """Return whether as many tests ran as on the phase's base, where they passed, and no more were skipped.

    An earlier phase may have removed tests of the run's base, and was judged for it.
    """
    if before is None or now is None or before.outcome != "PASS" or before.ran is None:
        return False
    return now.collected >= collected(before) and now.skipped <= (before.skipped or 0)


def collected(shown: Evidence) -> int:
    """Return the number of tests of a suite, run or skipped."""
    return (shown.ran or 0) + (shown.skipped or 0)


def left_out(
    before: Iterable[str], now: Collection[str], changed: Iterable[str], held: str | None = None
) -> tuple[str, ...]:
    """Return the tests that ran before and not now, though no file that could contain them has changed.

    `changed` has the test files that differ, `held` their previous text. If a name does not include its file,
    any changed file whose text had the name could contain it; without `held`, any changed file.
    """
    places = [_place(path) for path in changed]
    gone = sorted(name for name in before if name not in now)
    if not places:
        return tuple(gone)
    return tuple(
        name
        for name in gone
        if (_names_its_file(name) and not any(_is_at(name, place) for place in places))
        or (not _names_its_file(name) and held is not None and _TITLES.split(name)[-1] not in held)
    )


def _place(path: str) -> list[str]:
    """Return the end of a file's path as test names spell it: its folder and its module."""
    words = _WORDS.findall(path.rpartition(".")[0] or path)
    return words[: -1 if words[-1:] and words[-1] in _UNNAMED else None][-2:]


def _is_at(name: str, place: list[str]) -> bool:
    """Return whether a name starts with a module, or has it after its folder; parents may be missing."""
    words = _WORDS.findall(name)
    pairs = (words[at : at + len(place)] for at in range(len(words)))
    return words[:1] == place[-1:] or place in pairs


def _names_its_file(name: str) -> bool:
    """Return whether a name starts with a file or a module; a title in words does not."""
    head = name.partition(" ")[0]
    return "::" in head or head.count(".") > 1 or _PATH.fullmatch(head) is not None


def judge_setup(exit_code: int | None, cut: str | None = None) -> Judged:
    """Judge a setup: if it fails, no later check could show anything."""
    if exit_code is None or cut is not None:
        return Judged("INDETERMINATE", f"the setup was {cut or 'ended by its time limit'}")
    return Judged("PASS", "exit 0") if exit_code == 0 else Judged("INDETERMINATE", f"exit {exit_code}")


def judge_check(exit_code: int | None, cut: str | None = None) -> Judged:
    """Judge one of a phase's own checks: exit 0 passes."""
    if exit_code is None or cut is not None:
        return Judged("INDETERMINATE", f"it was {cut or 'ended by its time limit'}")
    if exit_code in (126, 127):
        return Judged("NOT_RUN", f"exit {exit_code}: the command could not be started")
    return Judged("PASS", "exit 0") if exit_code == 0 else Judged("FAIL", f"exit {exit_code}")


def without_filter(check: str) -> str | None:
    """Return a check without the program at its end that hides its exit code; None if there is none.

    A search that finds nothing exits with 1, which may be what its check wants to see.
    """
    found = _INTO_A_FILTER.fullmatch(check)
    if found is None or "pipefail" in check or _NO_MATCH.search(found[1]):
        return None
    try:
        shlex.split(found[1])
    except ValueError:
        return None
    return found[1]


def overall(outcomes: Iterable[Outcome]) -> Outcome:
    """Return the worst of several outcomes; NOT_RUN if there are none."""
    every = list(outcomes)
    return max(every, key=_RANK.__getitem__) if every else "NOT_RUN"
