"""What the tests that a phase adds, and its own checks, show about its work. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.proof.evidence import SETUP, Evidence
from asbuilt.proof.remarks import CHECKS_NOTHING, NO_TEST_NOTICES, NOTHING_SHOWS_IT, Remark
from asbuilt.proof.suites.model import Severity
from asbuilt.proof.trials.test_text import blocks, own_name

if TYPE_CHECKING:
    from asbuilt.proof.counts import Counts

_CHECKS: Final = re.compile(
    r"(?i)assert|expect|should|raises|throw|check|verif|must|require(?!\s*\()|ensure|equal|same|match|compare|fail|exit|panic"
    r"|unwrap|snapshot|golden|approv|\bt\.(?:Error|Fatal)|\w\((?:t|tb|self)[,)]|Output:|\[\s|\btest\s|\b(?:grep|diff|cmp)\b"
    r"|\bEXPECT|\bis\(|\bok\(|\?;|\bdone\("
)
"""How a test in any language states what it checks, or passes it to a function that does."""


_DEFINES: Final = re.compile(
    r"\b(?:def|class|func|fn|function\*?|const|let|var|get|struct)\s+(?:\([^)]*\)\s*)?([^\W\d]\w{2,})"
    r"|^\s*(?:(?:async|static|public|private|protected)\s+)*([^\W\d]\w{2,})\([^)]*\)[^;=]*\{\s*$"
)
_NAMED: Final = 2
_STATEMENTS: Final = frozenset(("for", "while", "switch", "catch", "with", "match", "elif", "foreach"))


def without_checks(texts: Mapping[str, str], names: Collection[str]) -> tuple[tuple[str, str], ...]:
    """Return file and name of each named test whose text checks nothing."""
    owns = {own_name(name) for name in names}
    found = (
        (path, own, text) for path, held in texts.items() for own, text in blocks(held, owns, path).items()
    )
    return tuple((path, own) for path, own, text in found if not _CHECKS.search(text.replace(own, "")))


def remarks_on_hollow(hollow: Sequence[tuple[str, str]]) -> tuple[Remark, ...]:
    """Return a sign-off for each new test that checks nothing."""
    now = "it looks at no answer, so it cannot fail for a wrong one"
    remark = Remark(CHECKS_NOTHING, Severity.SIGN_OFF, "", now=now, identity="")
    return tuple(remark._replace(path=path, test=own) for path, own in hollow)


def added_names(sources: Mapping[str, tuple[bytes, bytes]]) -> set[str]:
    """Return the names that files define on added lines."""
    found: set[str] = set()
    for before, after in sources.values():
        old = {*before.decode("utf-8", "replace").splitlines()}
        lines = (line for line in after.decode("utf-8", "replace").splitlines() if line not in old)
        found |= {name for line in lines for pair in _DEFINES.findall(line) for name in pair if name}
    return found - _STATEMENTS


def names_any(names: Collection[str], texts: Iterable[str]) -> bool:
    """Return whether one of the names is in one of the texts."""
    return any(not {*names}.isdisjoint(re.findall(r"[^\W\d]\w*", text)) for text in texts)


def remarks_on_unnoticed(unnoticed: Sequence[str], own: Sequence[str] = ()) -> tuple[Remark, ...]:
    """Return a sign-off for a phase whose checks notice no mutant of its new lines, with one such mutant.

    `own`: mutants that other checks notice, but none of the phase's own tests, which name what it adds.
    """
    first, *others = [*dict.fromkeys(unnoticed or own)] or [""]
    if not first:
        return ()
    more = f", and {len(others)} more" if others else ""
    by = "every check passes" if unnoticed else "the phase's own tests pass"
    place, _, mutation = first.partition(": ")
    path, _, line = place.partition(":")
    now = f"{by} with {mutation}{f' in line {line}' if line else ''}{more}"
    remark = Remark(NO_TEST_NOTICES, Severity.SIGN_OFF, path, now=now)
    return (remark._replace(identity="\n".join((*dict.fromkeys(unnoticed), "", *dict.fromkeys(own)))),)


def remarks_on_unshown(shown: Sequence[Evidence]) -> tuple[Remark, ...]:
    """Return a sign-off for a phase without whose work everything that ran passes too.

    A trial that did not run shows nothing, so it is no reason. New tests count even if they pass without the
    work: a phase may add tests of old code. A phase without checks of its own may change documents alone.
    """
    ran = [check for check in shown if check.name != SETUP]
    own = [f"`{check.command}`" for check in ran if not check.is_suite]
    if not all(map(_passes_without, ran)) or not (own or any(check.unseen for check in ran)):
        return ()
    what = " and ".join((*own[:_NAMED], *(["the tests"] if len(own) < len(ran) else [])))
    passes = "passes" if len(ran) == 1 and own else "pass"
    now = f"{what} {passes} without its work too, so nothing but the verifier's opinion shows it"
    remark = Remark(NOTHING_SHOWS_IT, Severity.SIGN_OFF, "this phase", now=now, identity="")
    return (remark._replace(content=ran[0].tree),)


def _passes_without(check: Evidence) -> bool:
    if check.is_suite:
        return check.emptied == "none" and not check.proves and not check.idle
    return check.before == "passes"


class Compared(NamedTuple):
    """Results of the phase's own tests without its work."""

    proves: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()
    note: str = ""


def compared(base: Counts | None, counts: Counts, tests: Sequence[str]) -> Compared:
    """Compare the tests of some files with and without the phase's work."""
    subject = f"the {len(tests)} new or changed test files" if len(tests) > 1 else tests[0]
    if base is None or not base.ran:
        # Tests that cannot even be loaded there need the phase's work.
        return Compared(note=f"without this phase's work no test of {subject} runs")
    idle = tuple(name for name in base.passed if name in counts.passed)
    proves = tuple(name for name in base.failures if name in counts.passed)
    passed = base.ran - base.failed
    note = f"without this phase's work {passed} of {base.ran} tests in {subject} pass too"
    return Compared(proves, idle, f"{note} and prove nothing about it" if passed else note)
