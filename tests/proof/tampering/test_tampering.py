"""What is told of a change of a suite by its files alone, before anything runs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.proof.change.tampering import Change, Citation, Kind, Order, Severity, tampering
from tests.proof.tampering.cases import Case, load_all, told

CASES = load_all()
BEFORE = b"from shop import total\n\ndef test_sum():\n    assert total([1, 2]) == 3\n"


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_change_of_a_suite_is_told_as_its_case_file_says(case: Case) -> None:
    assert told(tampering(case.changes, case.order)) == case.expected


@pytest.mark.parametrize(
    ("path", "before", "after", "found"),
    [
        ("tests/test_a.py", BEFORE, b"", [("not-compared", "sign_off")]),
        ("test_a.py", BEFORE, BEFORE + b"#\n", [("not-compared", "sign_off")]),
        ("shop_test.go", b"package shop\n", None, [("not-compared", "sign_off")]),
        ("t/basic.t", b"ok(1);\n", b"ok(2);\n", [("not-compared", "sign_off")]),
        ("tests/test_a.py", None, BEFORE, []),
        ("shop.py", b"", b"def total(): ...\n", []),
        ("src/lib.rs", b"", b"fn total() {}\n", []),
    ],
)
def test_a_test_file_that_changed_is_compared_by_a_run_or_by_a_person(
    path: str, before: bytes | None, after: bytes | None, found: list[tuple[str, str]]
) -> None:
    findings = tampering([Change(path, before, after)], Order("", command="pytest"))
    assert [(one.kind.value, one.severity.value) for one in findings] == found


def test_a_test_file_that_was_only_renamed_needs_no_comparison() -> None:
    changes = [Change("tests/test_a.py", BEFORE, None), Change("tests/test_b.py", None, BEFORE)]
    assert tampering(changes, Order("", command="pytest")) == ()


def test_what_the_plan_orders_is_allowed_and_cites_the_line_of_the_plan() -> None:
    order = Order("### Phase 2\n\n- [ ] Delete `tests/test_a.py`\n", first_line=40, command="pytest")
    (finding,) = tampering([Change("tests/test_a.py", BEFORE, None)], order)
    assert (finding.severity, finding.cited) == (
        Severity.ALLOWED,
        Citation(42, "- [ ] Delete `tests/test_a.py`"),
    )


@pytest.mark.parametrize(
    "text",
    [
        "- [ ] Make tests/test_a.py pass",
        "- [ ] Do not delete tests/test_a.py",
        "- [ ] Delete the cache; tests/test_a.py must pass",
        "- [ ] Remove the loop but keep tests/test_a.py",
        "- [ ] Fix the total without removing tests/test_a.py",
    ],
)
def test_a_plan_that_only_names_a_file_orders_nothing(text: str) -> None:
    (finding,) = tampering([Change("tests/test_a.py", BEFORE, None)], Order(text, command="pytest"))
    assert (finding.kind, finding.severity, finding.cited) == (Kind.NOT_COMPARED, Severity.SIGN_OFF, None)


FILES = (
    "tests/test_a.py", "a.test.ts", "a_test.go", "src/a.rs", "ATest.java", "tests/a.sh", "Makefile",
    "package.json", "pyproject.toml", "tox.ini", "pom.xml", "a.snap", "conftest.py", "a.py",
)  # fmt: skip


@given(st.binary(max_size=300), st.binary(max_size=300), st.sampled_from(FILES))
def test_whatever_a_file_holds_it_is_read_to_its_end(before: bytes, after: bytes, path: str) -> None:
    tampering([Change(path, before, after)], Order("", command="make test"))


@pytest.mark.parametrize("path", FILES)
@pytest.mark.parametrize(
    "deep", [b"{" * 50_000, b"x = " + b"(" * 5_000, b"`${" * 30_000, b"a" + b".b" * 3_000]
)
def test_what_is_nested_deeply_is_read_to_its_end(deep: bytes, path: str) -> None:
    tampering([Change(path, b"a", deep)], Order("", command="make test"))


def test_a_name_that_tests_take_from_their_own_folder_now_is_shown_with_both_places() -> None:
    before, after = (
        f"import os\nfrom {place} import price\n".encode() for place in ("shop.prices", "tests.fakes")
    )
    findings = tampering([Change("tests/test_price.py", before, after)], Order("Add a discount."))
    found = next(one for one in findings if one.kind is Kind.PRODUCT_REPLACED)
    assert found[:4] == (
        Kind.PRODUCT_REPLACED,
        Severity.SIGN_OFF,
        "tests/test_price.py",
        "price from tests/fakes/price",
    )
    assert (found.was, found.line) == ("price from shop/prices/price", 2)
