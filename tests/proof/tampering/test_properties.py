from __future__ import annotations

import ast
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asbuilt.proof.tampering import Change, Finding, Kind, Order, Severity, tampering

pytestmark = pytest.mark.crash
PATH = "tests/test_cart.py"
FEWER = settings(max_examples=settings().max_examples // 20)
"""Each example reads two suites; what is drawn is small."""
NUMBERS = st.integers(-99, 99)


@st.composite
def checks(draw: st.DrawFn, at: int) -> str:
    """Draw one assertion about a function that no other assertion is about, so that none implies another."""
    value, want = draw(NUMBERS), draw(NUMBERS)
    call = f"shop.price{at}({value})"
    return draw(
        st.sampled_from(
            [
                f"assert {call} == {want}",
                f"result{at} = {call}\n    assert result{at} == {want}",
                f"assert {call} in ({want}, {want + 1})",
                f"assert {call} < {want}",
                f"assert {call} is not None",
                f"assert {call}",
                f"assert not {call}",
                f"assert {call} == pytest.approx({want}, abs=0.5)",
                f"with pytest.raises(ValueError):\n        {call}",
                f"for item{at} in shop.items({value}):\n        assert item{at}.price{at}() == {want}",
            ]
        )
    )


@st.composite
def suites(draw: st.DrawFn) -> list[list[str]]:
    """Draw tests, each a list of assertions."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    return [[draw(checks(10 * number + at)) for at in range(size)] for number, size in enumerate(sizes)]


def spelled(tests: list[list[str]], *, names: str = "test_{}") -> bytes:
    """Write a suite down."""
    text = "import pytest\nimport shop\n"
    for number, body in enumerate(tests):
        text += f"\ndef {names.format(number)}():\n    " + "\n    ".join(body or ["pass"]) + "\n"
    return text.encode()


def found(before: bytes, after: bytes) -> tuple[Finding, ...]:
    return tampering([Change(PATH, before, after)], Order("", command="pytest"))


def fails(before: bytes, after: bytes) -> list[Finding]:
    return [one for one in found(before, after) if one.severity is Severity.FAILS]


@FEWER
@given(suites())
def test_formatting_changes_nothing(tests: list[list[str]]) -> None:
    before = spelled(tests)
    assert found(before, ast.unparse(ast.parse(before)).encode() + b"\n# A remark.\n") == ()


@FEWER
@given(suites())
def test_renaming_locals_changes_nothing(tests: list[list[str]]) -> None:
    before = spelled(tests)
    assert found(before, re.sub(rb"\b(result|item)(\d+)", rb"other\2", before)) == ()


@FEWER
@given(suites(), st.permutations(range(4)))
def test_renaming_and_reordering_tests_changes_nothing(tests: list[list[str]], order: list[int]) -> None:
    moved = [tests[at] for at in order if at < len(tests)]
    assert found(spelled(tests), spelled(moved, names="test_renamed_{}")) == ()


@FEWER
@given(suites())
def test_splitting_and_merging_tests_changes_nothing(tests: list[list[str]]) -> None:
    merged = [[line for body in tests for line in body]]
    split = [[line] for body in tests for line in body]
    assert found(spelled(tests), spelled(merged)) == ()
    assert found(spelled(tests), spelled(split)) == ()


@FEWER
@given(suites(), checks(90), st.integers(0, 3))
def test_adding_a_test_or_an_assertion_is_never_tampering(
    tests: list[list[str]], added: str, at: int
) -> None:
    grown = [[*body, added] if number == at % len(tests) else body for number, body in enumerate(tests)]
    assert fails(spelled(tests), spelled(grown)) == []
    assert fails(spelled(tests), spelled([*tests, [added]])) == []


@FEWER
@given(suites(), st.data())
def test_removing_any_one_assertion_is_always_found(tests: list[list[str]], data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(tests) - 1))
    at = data.draw(st.integers(0, len(tests[number]) - 1))
    left = [[*body] for body in tests]
    del left[number][at]
    (finding,) = fails(spelled(tests), spelled(left))
    assert (finding.test, finding.kind in (Kind.ASSERTION_REMOVED, Kind.TEST_EMPTIED)) == (
        f"test_{number}",
        True,
    )


@FEWER
@given(suites(), st.data())
def test_removing_any_one_test_is_always_found(tests: list[list[str]], data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(tests) - 1))
    text = spelled(tests).replace(f"def test_{number}(".encode(), f"def _unused_{number}(".encode())
    (finding,) = fails(spelled(tests), text)
    assert (finding.test, finding.kind) == (f"test_{number}", Kind.NOT_COLLECTED)


FILES = (
    "tests/test_a.py", "a.test.ts", "a_test.go", "src/a.rs", "ATest.java", "tests/a.sh", "Makefile",
    "package.json", "pyproject.toml", "tox.ini", "pom.xml", "a.snap",
)  # fmt: skip


@given(st.binary(max_size=300), st.binary(max_size=300), st.sampled_from(FILES))
def test_whatever_a_file_holds_it_is_compared_or_said_not_to_be(
    before: bytes, after: bytes, path: str
) -> None:
    tampering([Change(path, before, after)], Order("", command="make test"))
