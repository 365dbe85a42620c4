from __future__ import annotations

import ast
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asbuilt.proof.trials.mutants import Mutant, added_lines, is_probed, mutants_of, ordered, planned, summary

SOURCE = b'''\
"""Doc 1."""
from __future__ import annotations


def price(n: int, m: "Literal[3]" = 2) -> int:
    """Say 5."""
    total = (n) + m  # a + b
    if n < 10 and not m or n is not None:
        return f"{n + 1} of {m}"
    while n in (1, True):
        return None
    return total - n
'''


def another(value: str) -> str:
    """Give the code of another value of the same type."""
    (found,) = mutants_of("a.py", f"def a():\n    return {value}\n".encode(), {2})[:1]
    return found.new.decode()


def changed(source: bytes, *lines: int) -> list[tuple[int, str, str]]:
    found = mutants_of("a.py", source, set(lines) or set(range(1, 100)))
    return [(one.line, one.old.decode(), one.new.decode()) for one in found]


def test_what_stood_in_a_line_before_it_was_added_to_is_left_alone() -> None:
    before = b"options = dict(attempts=3, base=100)\n"
    after = b"options = dict(attempts=3, base=100, tries=7)\nlimit = 5\n"
    assert {one.old for one in planned({"a.py": (before, after)}, "seed")} == {b"7", b"5"}


def test_comparisons_sums_joins_constants_and_returns_are_changed_and_nothing_else() -> None:
    assert changed(SOURCE) == [
        (5, "2", "3"),
        (7, "+", "-"),
        (8, "or", "and"),
        (8, "and", "or"),
        (8, "<", ">="),
        (8, "10", "11"),
        (8, "is not", "is"),
        (9, 'f"{n + 1} of {m}"', another('f"{n + 1} of {m}"')),
        (10, "in", "not in"),
        (10, "1", "2"),
        (10, "True", "False"),
        (12, "total - n", another("total - n")),
        (12, "-", "+"),
    ]


def test_a_returned_value_becomes_another_one_of_its_type_or_an_error() -> None:
    values = ["True", "3", "2.5", "'a'", "[1]", "(1, 2)", "{'a': 1}"]
    code = "".join(f"print({another(value)})\n" for value in values)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "False", "4", "3.5", "a~", "[1, [1]]", "(1, 2, (1, 2))", "{'a': 1, '~': {'a': 1}}",
    ]  # fmt: skip
    (found,) = mutants_of("a.py", b"def a(b):\n    return b\n", {2})
    assert found.words == "a.py:2: `b` -> another value"
    done = subprocess.run(
        [sys.executable, "-c", another("object()")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1


def test_only_the_lines_of_the_phase_are_changed() -> None:
    assert changed(SOURCE, 7) == [(7, "+", "-")]
    assert changed(SOURCE, 1, 2, 3) == []


def test_a_file_that_cannot_be_read_or_is_too_large_is_left_alone() -> None:
    assert changed(b"def (") == []
    assert changed(b"# coding: latin-1\na = '\xe9' < 1\n") == []
    assert changed(b"\xef\xbb\xbfa = 1\n") == []
    assert changed(b"a = 1\n" * 50_000) == []


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_every_change_is_one_splice_where_it_says(end: bytes) -> None:
    source = "é = 'ü'; a = 1 <\\\n 2\nb = a\n".encode().replace(b"\n", end)
    found = mutants_of("a.py", source, {1, 2, 3})
    assert [(one.line, one.old, one.new) for one in found] == [
        (1, b"<", b">="), (1, b"1", b"2"), (2, b"2", b"3")
    ]  # fmt: skip
    assert all(source[one.start : one.start + len(one.old)] == one.old for one in found)


def test_lines_that_a_phase_adds_are_told_from_those_that_were_there() -> None:
    assert added_lines(b"a\nb\nc\n", b"a\nx\nb\nC\n") == {2, 4}
    assert added_lines(b"", b"a\nb") == {1, 2}
    assert added_lines(b"a\nb\n", b"a\n") == frozenset()


@pytest.mark.parametrize(
    ("path", "is_one"),
    [
        ("src/a.py", True),
        ("tests/test_a.py", False),
        ("conftest.py", False),
        ("a.pyi", False),
        ("a.go", True),
        ("a_test.go", False),
        ("src/a.ts", True),
        ("test/a.test.ts", False),
        ("src/lib.rs", True),
        ("tests/it.rs", False),
        ("a.md", False),
    ],
)
def test_only_code_of_the_product_is_changed(path: str, is_one: bool) -> None:  # noqa: FBT001
    assert is_probed(path) is is_one


def test_a_probe_is_told_with_what_was_not_noticed() -> None:
    one = Mutant("a.py", 3, 9, b"<", b">=")
    assert summary(7, [one, one], "the phase's own tests")[:2] == (
        "7 of 9 changes to the new lines were noticed by the phase's own tests",
        "not noticed: a.py:3: `<` -> `>=`",
    )
    assert summary(0, [one] * 12, "the tests")[10:] == ("not noticed: a.py:3: `<` -> `>=`", "and 2 more")
    assert summary(1, [], "the tests") == ("1 of 1 change to the new lines was noticed by the tests",)


@settings(max_examples=100)
@given(st.permutations(mutants_of("a.py", SOURCE, range(100))), st.text(max_size=5))
def test_the_order_is_the_seeds_alone_and_every_change_parses(mutants: list[Mutant], seed: str) -> None:
    assert ordered(mutants, seed) == ordered(sorted(mutants), seed)
    assert set(ordered(mutants, seed)) == set(mutants)
    for one in mutants:
        after = one.applied(SOURCE)
        assert ast.dump(ast.parse(after)) != ast.dump(ast.parse(SOURCE))


GO = b"""package a

// 1 + 1
func A(n int) bool {
	if n <= 10 && n != 3 { // 7
		return true
	}
	log("a == b", n - 1)
	return len(items) > 0
}
"""


def test_elsewhere_operators_truths_and_numbers_are_changed_outside_strings_and_comments() -> None:
    found = mutants_of("a.go", GO, set(range(1, 100)))
    assert [(one.line, one.old.decode(), one.new.decode()) for one in found] == [
        (5, "<=", ">"),
        (5, "10", "11"),
        (5, "&&", "||"),
        (5, "!=", "=="),
        (5, "3", "4"),
        (6, "true", "false"),
        (8, "-", "+"),
        (8, "1", "2"),
        (9, ">", "<="),
        (9, "0", "1"),
    ]
    assert all(GO[one.start : one.start + len(one.old)] == one.old for one in found)
