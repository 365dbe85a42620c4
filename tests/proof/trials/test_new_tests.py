"""New tests in whose text nothing is checked."""

from __future__ import annotations

import pytest

from asbuilt.proof.evidence import Evidence
from asbuilt.proof.suites.model import Severity
from asbuilt.proof.trials.new_tests import (
    added_names,
    names_any,
    remarks_on_unnoticed,
    remarks_on_unshown,
    without_checks,
)

GO = 'func TestTooWide(t *testing.T) {\n\tgot, err := Center("abcd", 3)\n\t%s\n}\n'


@pytest.mark.parametrize(
    ("path", "text", "name"),
    [
        ("center_test.go", GO % 't.Logf("refused: %q, %v", got, err)', "TestTooWide"),
        (
            "tests/test_a.py",
            "def test_a():\n    price = total([1])\n    print(price)\n",
            "tests.test_a::test_a",
        ),
        ("test/a.test.js", 'test("adds up", () => {\n  total([1]);\n});\n', "adds up"),
        ("tests/test_total.sh", "sh pricing.sh total 1 > /dev/null\n", "test_total.sh"),
    ],
)
def test_a_test_that_looks_at_no_answer_is_named(path: str, text: str, name: str) -> None:
    own = name.rpartition("::")[2]
    assert without_checks({path: text}, [name]) == ((path, own),)
    assert without_checks({path: text}, ["another"]) == ()


@pytest.mark.parametrize(
    ("path", "text", "name"),
    [
        ("center_test.go", GO % "if err == nil {\n\t\tt.Fatal(got)\n\t}", "TestTooWide"),
        ("center_test.go", GO % "sameLines(t, got, err)", "TestTooWide"),
        (
            "tests/test_a.py",
            "def test_a():\n    with pytest.raises(ValueError):\n        total(None)\n",
            "test_a",
        ),
        ("tests/test_a.py", "def test_a(self):\n    self.assertEqual(total([1]), 1)\n", "test_a"),
        ("test/a.test.js", 'test("adds up", () => expect(total([1])).toBe(1));\n', "adds up"),
        ("tests/a.rs", "#[test]\nfn one() {\n    assert_eq!(total(&[1]), 1);\n}\n", "one"),
        ("ShopTest.java", "@Test void one() {\n  assertThat(total(1)).isOne();\n}\n", "one"),
        ("tests/test_total.sh", '[ "$(sh pricing.sh total 1)" = 1 ]\n', "test_total.sh"),
    ],
)
def test_a_test_that_looks_at_one_is_not(path: str, text: str, name: str) -> None:
    assert without_checks({path: text}, [name]) == ()


def test_names_that_new_lines_define_are_found_in_any_language() -> None:
    before = b"export function total() {\n}\n"
    after = (
        b"export function total() {\n}\nexport const monthly = () => 1;\nclass Queue {\n"
        b"  async requeue(id: string): Promise<void> {\n    for (const one of this.dead) {\n    }\n  }\n}\n"
    )
    found = added_names({"a.ts": (before, after), "b.go": (b"", b"func (q *Queue) Drain() {}\n")})
    assert found == {"monthly", "Queue", "requeue", "one", "Drain"}
    assert names_any(found, ["queue.requeue(1)"])
    assert not names_any(found, ["total()", "requeued"])


def test_a_person_is_shown_a_change_that_own_tests_or_all_checks_let_pass() -> None:
    (every,) = remarks_on_unnoticed(["a.py:1: `<` -> `>`", "a.py:2: `1` -> `2`"], ["a.py:3: x"])
    (own,) = remarks_on_unnoticed([], ["a.py:3: `<` -> `>`"])
    assert (every.path, every.now) == ("a.py", "every check passes with `<` -> `>` in line 1, and 1 more")
    assert (own.path, own.now) == ("a.py", "the phase's own tests pass with `<` -> `>` in line 3")
    assert remarks_on_unnoticed([]) == ()


def _ran(name: str, **fields: object) -> Evidence:
    plain = {"why": "exit 0", "ran": None, "skipped": None, "failed": None, "output": "", "duration_s": 0.1}
    shown = {
        "name": name,
        "argv": (name,),
        "exit_code": 0,
        "outcome": "PASS",
        "tree": "t1",
        **plain,
        **fields,
    }
    return Evidence(**shown)  # type: ignore[arg-type]  # as a case names them


SUITE = _ran("tests", emptied="none")
IDLE = _ran("true", before="passes")


@pytest.mark.parametrize(
    ("shown", "now"),
    [
        ([IDLE], "`true` passes"),
        ([_ran("setup"), SUITE, IDLE], "`true` and the tests pass"),
        ([_ran("tests", emptied="none", unseen=("a.go: no check runs this file",))], "the tests pass"),
    ],
)
def test_a_phase_without_whose_work_everything_passes_waits_for_a_person(
    shown: list[Evidence], now: str
) -> None:
    (remark,) = remarks_on_unshown(shown)
    words = f"this phase: nothing shows it: {now} without its work too"
    assert remark.words == f"{words}, so nothing but the verifier's opinion shows it"
    assert (remark.severity, remark.content) == (Severity.SIGN_OFF, "t1")


@pytest.mark.parametrize(
    "shown",
    [
        [],
        [SUITE],
        [SUITE, IDLE, _ran("grep", before="fails")],
        [SUITE, _ran("slow", before="")],
        [IDLE, _ran("tests", emptied="tested")],
        [IDLE, _ran("tests", emptied="none", idle=("tests.test_old",))],
        [IDLE, _ran("tests", emptied="not run")],
    ],
    ids=["nothing ran", "documents", "one fails", "not tried", "tested", "tests of old code", "no time"],
)
def test_a_check_that_fails_without_the_work_or_was_not_tried_asks_nothing(shown: list[Evidence]) -> None:
    assert remarks_on_unshown(shown) == ()
