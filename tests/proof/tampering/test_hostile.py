from __future__ import annotations

import pytest

from asbuilt.proof.tampering import Change, Order, tampering

PYTHON = b"from shop import f\n\ndef test_a():\n    assert f(1) == 2\n"
SCRIPT = b"test('a', () => { expect(f(1)).toBe(2); });\n"
GO = b"package a\n\nfunc TestA(t *testing.T) {\n\tif f(1) != 2 {\n\t\tt.Error(1)\n\t}\n}\n"


def told(path: str, before: bytes, after: bytes) -> list[tuple[str, str, str]]:
    findings = tampering([Change(path, before, after)], Order("", command="pytest"))
    return [(str(one.severity), str(one.kind), one.now) for one in findings]


NESTED = ("fails", "not-compared", "it is nested too deeply")
LARGE = ("fails", "not-compared", "880,000 bytes are more than a test file has")
DEEP = ("fails", "unreadable", "it is nested too deeply")


@pytest.mark.parametrize(
    ("added", "said"),
    [
        (b"x = " + b"-" * 50_000 + b"1\n", DEEP),
        (b"x = a" + b".b" * 3_000 + b"\n", DEEP),
        (b"x = 0" + b" + 1" * 5_000 + b"\n", DEEP),
        (b"if a: pass\n" + b"elif b: pass\n" * 2_000, DEEP),
        (
            b"x = " + b"(" * 5_000 + b")" * 5_000,
            ("fails", "unreadable", "line 5: too many nested parentheses"),
        ),
        (b"# \xe9\n", ("fails", "unreadable", "it is not UTF-8")),
        (b"# x\n" * 1_250_000, ("fails", "unreadable", "5,000,055 bytes are more than a test file has")),
        (b"def test_b(:\n", ("fails", "unreadable", "line 5: invalid syntax")),
    ],
    ids=["signs", "attributes", "sums", "elifs", "brackets", "latin-1", "5 MB", "no syntax"],
)
def test_a_python_file_that_cannot_be_read_any_more_is_tampering(
    added: bytes, said: tuple[str, str, str]
) -> None:
    assert told("tests/test_a.py", PYTHON, PYTHON + added) == [said]


def test_a_file_that_could_never_be_read_is_for_a_person() -> None:
    assert told("tests/test_a.py", b"\xff\n", b"\xfe\n") == [("sign_off", "not-compared", "it is not UTF-8")]


def test_values_that_double_and_functions_that_call_each_other_come_to_an_end() -> None:
    doubled = b"def test_b():\n    x = f(1)\n" + b"    x = (x, x)\n" * 200 + b"    assert x == 1\n"
    called = b"def check(x):\n" + b"    check(x)\n" * 9 + b"    assert x\n\ndef test_c():\n    check(f(1))\n"
    assert told("tests/test_a.py", PYTHON, PYTHON + doubled + called) == []


@pytest.mark.parametrize(
    ("path", "before", "after", "said"),
    [
        ("a.test.js", SCRIPT, SCRIPT + b"{" * 50_000, []),
        ("a.test.js", SCRIPT, SCRIPT + b"`${" * 30_000, []),
        ("a.test.js", SCRIPT, SCRIPT + b"/[" * 5_000, []),
        ("a.test.js", SCRIPT, b"test('a', () => {" * 3_000, [NESTED]),
        ("a.test.js", SCRIPT, SCRIPT * 20_000, [LARGE]),
        ("a_test.go", GO, GO + b"'" * 50_000, []),
        ("a_test.go", GO, GO + b"func b() {" + b"a := []int{" * 5_000, []),
        ("package.json", b"{}", b"[" * 50_000, []),
        ("pyproject.toml", b"", b"a = " + b"[" * 50_000, []),
    ],
    ids=["braces", "templates", "slashes", "tests in tests", "880 kB", "quotes", "literals", "json", "toml"],
)  # fmt: skip
def test_deep_and_endless_files_come_to_an_end(
    path: str, before: bytes, after: bytes, said: list[tuple[str, str, str]]
) -> None:
    assert told(path, before, after) == said
