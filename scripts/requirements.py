"""The required behaviours and their evidence, for docs/requirements.md.

A row is proven by a test that starts asbuilt as a process. `tests/requirements/entries.txt` lists these
tests. Run as a program after them, this module compares the list with what they did; `--write` renews it, and
`--begin` deletes the record of earlier tests. `just inventory` begins a record, runs the sessions that make a
whole one, and compares it at its end.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

ROOT: Final = Path(__file__).parent.parent
ROWS: Final = ROOT / "tests" / "requirements"
ENTRIES: Final = ROWS / "entries.txt"
RECORD: Final = ROOT / ".pytest_cache" / "v" / "asbuilt" / "entries"
"""What `tests/support/entries.py` recorded since `--begin`: each case of a test of a row, with its result.

"started" (asbuilt, as a process), "nothing" (it passed and started no process of asbuilt), "failed",
"skipped", "long" (collected, and left out by the marker of that name), and "turn" (left to the next commit).
"""
SESSIONS: Final = RECORD.with_name("sessions")
"""What each session since `--begin` selected, and how it ended."""
WHOLE: Final = {
    "crash": ("just journeys", ()),
    "live and not long": ("just live-slice", ("tests/live",)),
    "not crash and not live and not real": ("just test", ()),
}
"""The sessions of a whole record: the markers of each, its command, and the paths that the command names."""
RESULTS: Final = ("started", "failed", "nothing", "skipped", "long", "turn")
PROBLEMS: Final = {
    "absent": "did not run in a session of this record: run the whole of `just inventory`; if that ran, the "
    "test has no marker of its sessions",
    "failed": "failed: repair it, or the behaviour that it shows",
    "nothing": "passed and started no process of asbuilt: let it start the command, the hook or the worker, "
    "or take it off tests/requirements/entries.txt and name another test in the row",
}
UNSEEN: Final = "skipped, and no other test shows the row here: install what the reason of the skip names"
NOTES: Final = {
    "long": "long: collected, not run here; `just live` runs it",
    "skipped": "skipped: pytest's summary has the reason",
}
LEAST: Final = 0.95
"""The share of the stated behaviours (kind R) that must be proven or superseded."""

GROUPS: Final = {
    "A": ("Authoring", 44),
    "M": ("Plan mode and approval", 41),
    "D": ("Plan documents", 36),
    "C": ("Context and resuming", 36),
    "T": ("Tasks", 29),
    "X": ("Execution", 42),
    "S": ("Schedules", 25),
    "K": ("Claims and concurrency", 19),
    "L": ("Landing", 22),
    "V": ("Verification, drift, reports", 21),
    "F": ("Failure", 9),
    "U": ("Commands", 14),
    "E": ("Environment and settings", 12),
}
KINDS: Final = {
    "R": "stated as observable",
    "W": "only the need behind it is",
    "U": "filled in from elsewhere",
    "A": "ambiguous as stated",
}
HEAD: Final = "| id | kind | what is required | what shows it |\n|---|---|---|---|"
LEAD: Final = """\
What asbuilt is required to do, by id, and what shows it: the tests that prove the row, the live tests that
show that Claude Code does it, the page with the decision in its place, or the reason why it is not built. The
rows are in `tests/requirements/`. A test fails when an id has no answer, when a test or page that a row names
does not exist, and when fewer than 95 of 100 stated rows are answered. A row is proven by a test that starts
asbuilt as a command, a hook or a worker and fails without the behaviour. A row with other tests only is
marked "model only", and a test fails. `just inventory` records what each of these tests starts,
and fails if one of them did not run or started nothing. Tests with the marker `long` run in `just live` only;
it names them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One required behaviour and its answer."""

    id: str
    kind: str
    """One of KINDS, two joined by a slash."""
    says: str
    tests: tuple[str, ...] = ()
    superseded: str = ""
    """The page that decides it otherwise, from `docs/`, with its heading if one is meant."""
    instead: str = ""
    not_built: str = ""
    by_claude_code: bool = False
    """Claude Code does it; the tests, all of tests/live, show that the pinned version does."""

    @property
    def state(self) -> str:
        """Name the answer in a word."""
        if self.not_built:
            return "not built"
        if self.by_claude_code:
            return "done by Claude Code"
        if self.superseded:
            return "superseded"
        return "proven" if any(name.partition("[")[0] in entries() for name in self.tests) else "model only"

    @property
    def is_stated(self) -> bool:
        """Whether the row is one of those that the share is taken of."""
        return self.kind.startswith("R")


@cache
def entries() -> frozenset[str]:
    """Read the names of the tests that start asbuilt."""
    return frozenset(ENTRIES.read_text(encoding="utf-8").split())


@cache
def rows() -> tuple[Row, ...]:
    """Read every row, in the order of the groups."""
    tables = {name: tomllib.loads((ROWS / f"{name}.toml").read_text(encoding="utf-8")) for name in GROUPS}
    return tuple(_row(name, table) for group in tables.values() for name, table in group.items())


def _row(name: str, table: Mapping[str, object]) -> Row:
    return Row(id=name, **{**table, "tests": tuple(table.get("tests", ()))})  # type: ignore[arg-type]  # as written


def problems(every: Iterable[Row]) -> Iterator[str]:
    """Say what is wrong with the rows: ids, answers, what they name, and how few are answered."""
    every = tuple(every)
    needed = [f"{group}{number}" for group, (_, count) in GROUPS.items() for number in range(1, count + 1)]
    had = [row.id for row in every]
    yield from (f"{name} has no row" for name in needed if name not in had)
    yield from (f"{name} is no id" for name in had if name not in needed)
    for row in every:
        yield from (f"{row.id}: {what}" for what in _wrong(row))
    stated = [row for row in every if row.is_stated]
    share = sum(not row.not_built for row in stated) / len(stated) if stated else 0.0
    if share < LEAST:
        yield f"only {share:.1%} of the stated rows are proven or superseded, {LEAST:.0%} are needed"


def _wrong(row: Row) -> Iterator[str]:
    if not row.says:
        yield "it does not say what is required"
    if not row.kind or not set(row.kind.split("/")) <= set(KINDS):
        yield f"{row.kind!r} is no kind"
    if not (row.tests or row.superseded or row.not_built):
        yield "neither a test, nor a page, nor a reason"
    if row.not_built and (row.superseded or row.tests):
        yield "not built and answered at once"
    if row.by_claude_code and not any(_is_live(name) for name in row.tests):
        yield "done by Claude Code, and no live test shows it"
    if bool(row.superseded) != bool(row.instead):
        yield "a page and what it decides belong together"
    if row.kind == "W" and not (row.tests or row.not_built):
        yield "its need has no test"
    yield from (f"there is no test {name}" for name in row.tests if not _is_test(name))
    if row.tests and row.state == "model only" and all(_is_test(name) for name in row.tests):
        yield "none of its tests starts asbuilt"
    if row.superseded and not _is_page(row.superseded):
        yield f"there is no page docs/{row.superseded}"


def _is_live(name: str) -> bool:
    return name.startswith("tests/live/")


def _is_test(name: str) -> bool:
    path, _, test = name.partition("::")
    test, _, case = test.partition("[")
    file = ROOT / path
    if not file.is_file() or test not in _collected(file):
        return False
    return not case or (file.parent / "cases" / f"{case.removesuffix(']')}.md").is_file()


@cache
def _collected(file: Path) -> frozenset[str]:
    """Name the tests of a file, those that it takes from a contract's file too."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.ImportFrom):
            names |= {one.asname or one.name for one in node.names}
    return frozenset(name for name in names if name.startswith("test_"))


def _is_page(name: str) -> bool:
    path, _, heading = name.partition("#")
    page = ROOT / "docs" / path
    if not page.is_file():
        return False
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return not heading or heading in {_anchor(one) for one in headings}


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def page(every: Iterable[Row]) -> Iterator[str]:
    """Write the rows as a page, a table for each group."""
    every = tuple(every)
    yield LEAD
    yield f"Kinds: {'; '.join(f'{kind}, {what}' for kind, what in KINDS.items())}."
    yield "\n".join(_sums(every))
    for group, (title, _) in GROUPS.items():
        told = "\n".join(_told(row) for row in every if row.id[0] == group)
        yield f"## {group}. {title}\n\n{HEAD}\n{told}"


def _sums(every: tuple[Row, ...]) -> Iterator[str]:
    states = ("proven", "model only", "done by Claude Code", "superseded", "not built")
    yield "| | rows | " + " | ".join(states) + " |\n" + "|---" * (2 + len(states)) + "|"
    for title, some in (("all", every), ("kind R", tuple(row for row in every if row.is_stated))):
        counts = " | ".join(str(sum(row.state == state for row in some)) for state in states)
        yield f"| {title} | {len(some)} | {counts} |"


def _told(row: Row) -> str:
    shown = [f"`{name}`" for name in row.tests]
    if row.superseded:
        where = row.superseded.partition("#")[0].removesuffix(".md").rpartition("/")[2]
        shown.insert(0, f"superseded by [{where}]({row.superseded}): {row.instead}")
    if row.by_claude_code:
        shown.insert(0, "done by Claude Code, as these tests of the pinned version show:")
    if row.not_built:
        shown.insert(0, f"**not built**: {row.not_built}")
    if row.state == "model only":
        shown.insert(0, "**model only**")
    cells = (row.id, row.kind, row.says, "<br>".join(shown))
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def named() -> frozenset[str]:
    """Return the tests that rows name, without their cases."""
    return frozenset(_tests_of(*rows()))


def _tests_of(*some: Row) -> Iterator[str]:
    return (name.partition("[")[0] for row in some for name in row.tests)


def unnamed() -> list[str]:
    """Return the tests of the list that no row names."""
    return sorted(entries() - named())


def results(record: Mapping[str, str]) -> dict[str, str]:
    """Return one result for each test of the list that was collected: the best of its cases."""
    found: dict[str, str] = {}
    for case, result in record.items():
        test = case.partition("[")[0]
        if test in entries():
            found[test] = min(found.get(test, result), result, key=RESULTS.index)
    return found


def compare(record: Mapping[str, str]) -> Iterator[str]:
    """Compare the list with what its tests did; each problem says the rows and what to do."""
    found = results(record)
    for test in sorted(entries()):
        result = found.get(test, "absent")
        if result in PROBLEMS:
            yield f"{test} ({_ids(test)}) {PROBLEMS[result]}"
    for row in rows():
        listed = [test for test in _tests_of(row) if test in entries()]
        seen = {found.get(test) for test in listed}
        if "skipped" in seen and not seen & {"started", "long", "turn"}:
            yield f"{row.id}: {', '.join(sorted({*listed}))}: {UNSEEN}"


def notes(record: Mapping[str, str]) -> Iterator[str]:
    """Name the tests that CI does not run, and those that were skipped; count those of other turns."""
    found = results(record)
    for test, result in sorted(found.items()):
        if result in NOTES:
            yield f"{test} ({_ids(test)}) {NOTES[result]}"
    later = sum(result == "turn" for result in found.values())
    if later:
        yield f"{later} tests run with the next commit: every other one has its turn"


def extent(sessions: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Say whether the sessions make a whole record, and what a partial one lacks."""
    sessions, lacking = list(sessions), []
    for marks, (command, paths) in WHOLE.items():
        those = [one for one in sessions if one["marks"] == marks]
        whole = [one for one in those if set(filter(None, one["only"])) <= {*paths}]
        ended = [one for one in whole if not one["cut off"]]
        if ended:
            yield f"`{command}`: {ended[-1]['ran']} tests ran, {ended[-1]['failed']} failed"
        elif whole:
            lacking.append(f"`{command}` was cut off after {whole[-1]['ran']} tests")
        else:
            lacking.append(f"only a part of `{command}` ran" if those else f"`{command}` did not run")
    if lacking:
        yield f"The record is PARTIAL: {'; '.join(lacking)}"
    else:
        yield "The record is whole."


def unshown(record: Mapping[str, str]) -> list[str]:
    """Return the ids of the proven rows that no test of the record shows."""
    found = results(record)
    shown = {test for test, result in found.items() if result in ("started", "long", "turn")}
    return [row.id for row in rows() if row.state == "proven" and not shown & set(_tests_of(row))]


def _ids(test: str) -> str:
    return " ".join(row.id for row in rows() if test in _tests_of(row)) or "no row"


def main(arguments: list[str]) -> int:
    """Compare, or write the list from the record, or begin a record."""
    if arguments == ["--begin"]:
        RECORD.unlink(missing_ok=True)
        SESSIONS.unlink(missing_ok=True)
        return 0
    record = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    if arguments == ["--write"]:
        started = {case.partition("[")[0] for case, result in record.items() if result == "started"}
        refuted = {case.partition("[")[0] for case, result in record.items() if result == "nothing"} - started
        kept = sorted((entries() - refuted | started) & named())
        ENTRIES.write_text("".join(f"{name}\n" for name in kept), encoding="utf-8")
        return 0
    sessions = json.loads(SESSIONS.read_text(encoding="utf-8")) if SESSIONS.exists() else []
    found, rest = list(compare(record)), unshown(record)
    print(*notes(record), *found, *extent(sessions), sep="\n")
    print(f"{len(entries())} tests of rows start asbuilt, {len(found)} problems")
    print(f"{len(rest)} proven rows that nothing in this record shows: {' '.join(rest) or 'none'}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
