"""Evidence from a command that asbuilt ran. Only PASS passes; an unknown result is never rounded up."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from asbuilt.policy.masking import masked

if TYPE_CHECKING:
    from asbuilt.events.event import Outcome

TESTS: Final = "tests"
"""Name of the only suite; with several suites each name has its folder."""
SETUP: Final = "setup"
"""Name of the setup among checks."""
IDLE: Final = "it passes without this phase's work too, and proves nothing about it"
"""Reason for a phase's check that passes on the phase's base."""
NO_TEST: Final = "exit 0, but no test ran, so it proves nothing"
"""Reason for a phase's check that fails before the work and runs no test after it."""
_IN_DOUBLE_QUOTES: Final = re.compile(r'["$`\\!\n]')
"""Characters that mean something between double quotes."""
_SHELL: Final = ("/bin/sh", "-c")


def in_quotes(word: str) -> str:
    """Quote a word for a shell, in double quotes if they keep it as it is."""
    return shlex.quote(word) if _IN_DOUBLE_QUOTES.search(word) else f'"{word}"'


def _quoted(word: str) -> str:
    """Quote a word for a shell; around single quotes, double quotes are easier to read."""
    return in_quotes(word) if "'" in word else shlex.quote(word)


class Evidence(NamedTuple):
    """One command, its result, and what the result shows."""

    name: str
    """`tests`, `tests in FOLDER` with several suites, or the check's own text."""
    argv: tuple[str, ...]
    exit_code: int | None
    outcome: Outcome
    why: str
    ran: int | None
    skipped: int | None
    failed: int | None
    output: str
    """Digest of the stored output."""
    duration_s: float
    tree: str
    new_failures: tuple[str, ...] = ()
    old_failures: tuple[str, ...] = ()
    setup: str = "none"
    """Digest of the setup that it ran on."""
    ring: str = ""
    """The sandbox it ran in; without one it could reach the network and the user's files."""
    reused: bool = False
    """True: taken from an earlier run on the same tree."""
    report: str = ""
    """Digest of the report that the runner wrote beside its output."""
    canary: str = ""
    """Random names of the canaries that the same runner was tried with; empty if none."""
    canaries: str = ""
    """How it reported them: right, wrong or absent; empty if there were none."""
    put_back: tuple[str, ...] = ()
    """Files that configure the runner and were restored to the base."""
    proves: tuple[str, ...] = ()
    """New or changed tests that pass with this phase's work and not without it."""
    idle: tuple[str, ...] = ()
    """New or changed tests that pass without this phase's work too: they prove nothing about it."""
    notes: tuple[str, ...] = ()
    flaky: tuple[tuple[str, int, int, bool], ...] = ()
    """Tests that failed and passed when repeated: name, passes, number of runs, whether known as flaky."""
    folder: str | None = None
    """Where a suite ran, from the root; None for any other command."""
    counted: str = "tests"
    """`exit-code`: its tests are not counted, a weaker proof."""
    emptied: str = ""
    """Result of the checks without the product files: `tested`, `built`, `green`; `none`: no such files."""
    noticed: int | None = None
    """Number of mutations of the phase's new lines that its tests noticed; None: not tried."""
    unnoticed: tuple[str, ...] = ()
    """Mutations of the phase's new lines, in words, if no check noticed any of them."""
    unnoticed_by_own: tuple[str, ...] = ()
    """The same if other checks notice them, but none of the phase's own tests, which name what it adds."""
    hollow: tuple[tuple[str, str], ...] = ()
    """New tests whose text checks nothing: file and name."""
    unseen: tuple[str, ...] = ()
    """New code that no test runs, or whose mutation no test noticed, with its place: for the verifier."""
    before: str = ""
    """Result of a phase's own check on its base: `passes` (then it proves nothing) or `fails`."""
    old: str = ""
    """Result of the base's tests on the new code: `green`, `red`, `not loaded`; empty: they did not run."""
    olds: tuple[tuple[Any, ...], ...] = ()
    """Tests of the base that the phase has touched or broken: the fields of `OldTest`."""
    depth: str = ""
    """The `proof.depth` with which it was tried."""
    unusable: bool = False
    """True: no evidence about the tree (killed, timed out, other code was run), whatever a fix does."""

    @property
    def is_suite(self) -> bool:
        """Whether it is of a suite, not of a phase's own check."""
        return self.name == TESTS or self.folder is not None

    @property
    def command(self) -> str:
        """The command as a person types it."""
        return self.argv[-1] if self.argv[:2] == _SHELL else " ".join(map(_quoted, self.argv))

    @property
    def is_conclusive(self) -> bool:
        """Whether another run on the same tree could show nothing else: it ran and was counted."""
        return self.outcome in ("PASS", "FAIL") and (self.ran is not None or self.counted == "exit-code")


LINES: Final = 15
WIDTH: Final = 200
"""Most characters of a line; a longer line ends with an ellipsis."""
_READ: Final = 262_144
"""Bytes read from the end of an output. A private key that starts before them is not recognised."""
_CONTROL: Final = re.compile(
    r"""
      (?: \x1b\[ | \x9b ) [0-?]* [ -/]* [@-~]?   # CSI: colours, cursor, erasing
    | (?: \x1b[\]PX^_] | [\x90\x98\x9d-\x9f] ) [^\x07\x1b\x9c\n]* (?: \x07 | \x1b\\ | \x9c )?  # titles
    | \x1b [ -/]* [0-~]?
    """,
    re.VERBOSE,
)


def evidence_from(plain: Mapping[str, Any]) -> Evidence:
    """Build evidence from its stored form; JSON has no tuples."""
    return Evidence(**{name: _as_tuples(value) for name, value in plain.items()})


def _as_tuples(value: Any) -> Any:  # noqa: ANN401  a field of any type
    return tuple(map(_as_tuples, value)) if isinstance(value, list) else value


def last_lines(output: bytes, count: int = LINES) -> tuple[str, ...]:
    """Return the last lines of an output: no escape sequences, progress bars, blank lines or secrets."""
    text = output[-_READ:].decode("utf-8", "replace")
    plain = _CONTROL.sub("", text).replace("\r\n", "\n")
    # Of a line that a program has overwritten, a terminal shows the last part.
    parts = (line.split("\r")[::-1] for line in plain.split("\n"))
    drawn = "\n".join(next(filter(str.strip, line), "") for line in parts)
    lines = (line.expandtabs(4).rstrip() for line in masked(drawn).split("\n"))
    fitted = [line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…" for line in lines if line]
    return tuple(fitted[-count:])
