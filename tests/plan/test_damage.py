"""The canonical plan after every accident that a disk, an editor or a network has for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asbuilt.errors import PlanUnreadable
from asbuilt.plan.markdown.source import MAX_BYTES
from asbuilt.plan.problems import Severity
from asbuilt.plan.reader import read
from tests.plan.cases import load_all

if TYPE_CHECKING:
    from asbuilt.plan.model import Plan

CANONICAL = next(case.data for case in load_all() if case.name == "canonical-tracker")


def problems_outside(plan: Plan) -> list[int]:
    count = max(1, len(plan.source.lines))
    return [problem.line for problem in plan.problems if not 1 <= problem.line <= count]


def rules(plan: Plan) -> set[str]:
    return {problem.rule for problem in plan.problems}


@pytest.mark.parametrize("quarter", range(4))
def test_a_plan_cut_off_at_any_byte_is_read_and_its_problems_have_lines(quarter: int) -> None:
    strange = []
    for length in range(quarter, len(CANONICAL) + 1, 4):
        plan = read(CANONICAL[:length])
        if problems_outside(plan) or plan.source.data != CANONICAL[:length]:
            strange.append(length)
    assert strange == []


def test_a_plan_cut_off_before_its_phases_says_what_is_missing() -> None:
    opening = CANONICAL.index(b"---\n", 4)
    silent = []
    for length in range(CANONICAL.index(b"| 1 \xe2\x80\x94")):
        found = rules(read(CANONICAL[:length]))
        wanted = "front-matter" if 4 <= length < opening + 3 else "no-phases"
        if wanted not in found:
            silent.append((length, found))
    assert silent == []


def test_a_plan_cut_off_inside_a_character_says_so_on_the_last_line() -> None:
    at = CANONICAL.index("—".encode()) + 1
    plan = read(CANONICAL[:at])
    assert [(problem.line, problem.rule) for problem in plan.problems if problem.severity is Severity.ERROR][
        -1
    ] == (
        len(plan.source.lines),
        "not-utf8",
    )


@pytest.mark.parametrize("bit", range(8))
def test_a_flipped_bit_is_no_crash_and_a_broken_character_is_told(bit: int) -> None:
    silent = []
    for at in range(bit, len(CANONICAL), 11):
        data = bytearray(CANONICAL)
        data[at] ^= 1 << bit
        plan = read(bytes(data))
        try:
            data.decode()
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            told = (line, "not-utf8") in {(problem.line, problem.rule) for problem in plan.problems}
        else:
            told = "not-utf8" not in rules(plan)
        if not told or problems_outside(plan):
            silent.append(at)
    assert silent == []


def test_every_byte_replaced_by_a_nul_is_told_with_its_line() -> None:
    silent = []
    for at in range(0, len(CANONICAL), 11):
        data = CANONICAL[:at] + b"\0" + CANONICAL[at + 1 :]
        plan = read(data)
        line = data.count(b"\n", 0, at) + 1
        if (line, "nul") not in {(problem.line, problem.rule) for problem in plan.problems}:
            silent.append(at)
    assert silent == []


@pytest.mark.parametrize("ends", [(b"\r\n",), (b"\r",), (b"\n", b"\r\n"), (b"\r\n", b"\n", b"\n")])
def test_line_ends_change_no_reading_and_no_intent(ends: tuple[bytes, ...]) -> None:
    lines = CANONICAL.split(b"\n")
    data = b"".join(line + ends[at % len(ends)] for at, line in enumerate(lines[:-1])) + lines[-1]
    plan, canonical = read(data), read(CANONICAL)
    assert plan.problems == canonical.problems
    assert (plan.intent, plan.phases[1].intent) == (canonical.intent, canonical.phases[1].intent)
    assert [phase.lines for phase in plan.phases] == [phase.lines for phase in canonical.phases]


@pytest.mark.parametrize(
    "data",
    [b"", b"\n", b"\xef\xbb\xbf", b"\0", b"\xff\xfe", b"---", b"---\n", b"|", b"#", b"- [ ]", b"\r\r\n\n"],
)
def test_next_to_nothing_is_read_and_lacks_a_title(data: bytes) -> None:
    plan = read(data)
    assert "missing-title" in rules(plan)
    assert problems_outside(plan) == []


def test_a_file_over_two_million_bytes_is_refused_and_one_of_exactly_that_is_read() -> None:
    head = b"# Large\n\n- [ ] one\n"
    data = head + b"x" * (MAX_BYTES - len(head))
    assert len(data) == 2_000_000
    assert [phase.id for phase in read(data).phases] == ["one"]
    with pytest.raises(PlanUnreadable) as refused:
        read(data + b"x")
    assert refused.value.what == "the plan has 2,000,001 bytes; at most 2,000,000 are read"
