"""What the tests that a phase adds show about its work. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from asbuilt.proof.remarks import NO_TEST_NOTICES, Remark
from asbuilt.proof.suites.model import Severity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from asbuilt.proof.counts import Counts


def remarks_on_unnoticed(unnoticed: Sequence[str]) -> tuple[Remark, ...]:
    """Ask a person about a phase of whose new lines no check notices a change, and show such a change."""
    first, *others = [*dict.fromkeys(unnoticed)] or [""]
    if not first:
        return ()
    more = f", and {len(others)} more" if others else ""
    now = f"every check passes with {first}{more}"
    return (Remark(NO_TEST_NOTICES, Severity.SIGN_OFF, first.partition(":")[0], now=now),)


class Compared(NamedTuple):
    """What the phase's own tests do without its work."""

    proves: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()
    note: str = ""


def compared(base: Counts | None, counts: Counts, tests: Sequence[str]) -> Compared:
    """Compare the tests of some files with and without the phase's work."""
    told = f"the {len(tests)} new or changed test files" if len(tests) > 1 else tests[0]
    if base is None or not base.ran:
        # What cannot even be loaded there needs the phase's work.
        return Compared(note=f"without this phase's work no test of {told} runs")
    idle = tuple(name for name in base.passed if name in counts.passed)
    proves = tuple(name for name in base.failures if name in counts.passed)
    passed = base.ran - base.failed
    note = f"without this phase's work {passed} of {base.ran} tests in {told} pass too"
    return Compared(proves, idle, f"{note} and prove nothing about it" if passed else note)
