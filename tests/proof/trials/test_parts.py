"""Parts of a phase's work are taken away one by one, and what no check misses is not proven."""

from __future__ import annotations

import ast

import pytest

from asbuilt.proof.trials.parts import Part, broken, parts_of, unborne

BEFORE = b'''"""Prices."""


def total(prices):
    """Add up."""
    return sum(prices)


def shipping(grams):
    return 490
'''
AFTER = b'''"""Prices."""


def total(prices):
    """Add up."""
    if len(prices) > 9:
        return sum(prices) * 9 // 10
    return sum(prices)


def shipping(grams: int) -> int:
    """Say what it costs."""
    return 490


class Basket:
    def __repr__(self):
        return "Basket"

    def add(self, cents): self.cents = cents

    def later(self):
        raise NotImplementedError


def _shown(cents):
    """Write a price."""
    # in words
    return str(cents)
'''


def words(text: str, before: bytes = BEFORE, after: bytes = AFTER, *files: str) -> list[str]:
    return [part.words for part in parts_of({"shop.py": (before, after)}, text, files)]


def test_the_parts_that_a_phase_promises_come_before_the_other_new_functions() -> None:
    assert words("- [ ] `total` takes 10 percent off of ten prices\n", BEFORE, AFTER, "shop.py") == [
        "the work: the product as it was before",
        "shop.py: an error when it starts",
        "shop.py:4: an error in each new statement of `total`",
        "shop.py:7: `10` -> `37`",
        "shop.py:4: `total` as it was before",
        "shop.py:7: an error for this answer of `total`",
        "shop.py:20: an error at the start of `add`",
        "shop.py:22: an error at the start of `later`",
        "shop.py:26: an error at the start of `_shown`",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "- [ ] `total` is faster\n",
        "- [ ] Refactor `total`\n- [ ] Add tests for `total`\n",
        "- [ ] Rename `sum` to `total`\n",
        "- [ ] Add types\n### Acceptance Criteria\n- [ ] `shipping` costs 490\n",
    ],
)
def test_work_on_the_form_of_code_may_do_the_same_as_before(text: str) -> None:
    assert not [line for line in words(text) if line.endswith("as it was before")]


def test_annotations_comments_and_docstrings_are_no_part() -> None:
    after = BEFORE.replace(b"(prices)", b"(prices: list[int]) -> int", 1).replace(b"Add up", b"Add them up")
    assert words("- [ ] `total` adds up\n", BEFORE, after, "shop.py") == []
    assert words("- [ ] `total` adds up\n", b"", b"# why\n", "shop.py") == []


def test_a_taken_part_is_still_python_and_keeps_all_of_its_text() -> None:
    parts = parts_of({"shop.py": (BEFORE, AFTER)}, "- [ ] `total` is cheaper\n", ["shop.py"])
    for part in parts:
        (taken,) = part.without.values()
        ast.parse(taken)
        if not part.words.endswith("as it was before"):
            assert {*AFTER.split()} <= {*taken.replace(b"; ", b" ; ").replace(b";", b"").split()}


GO = (
    b"package shop\n\nfunc Total(prices []int) int {\n\treturn 0\n}\n\nfunc (b *Basket) Add(cents int) {\n}\n"
)
SCRIPT = b"""// Prices.
export function total(prices) {
  if (prices.length > 9) { return 0; }
  return 1;
}
const shown = async (cents) => {
  return cents;
};
class Basket {
  add(cents) { this.cents = cents; }
}
"""


@pytest.mark.parametrize(
    ("path", "after", "found"),
    [
        ("shop.go", GO, [("Total", b'int { panic("");\n'), ("Add", b'int) { panic("");\n')]),
        (
            "shop.js",
            SCRIPT,
            [
                ("total", b"(prices) { throw new Error();\n"),
                ("shown", b"(cents) => { throw new Error();\n"),
                ("add", b"add(cents) { throw new Error(); this.cents"),
            ],
        ),
    ],
)
def test_new_functions_of_other_languages_are_parts(
    path: str, after: bytes, found: list[tuple[str, bytes]]
) -> None:
    parts = parts_of({path: (b"", after)}, "", [])
    assert [part.name for part in parts] == [name for name, _ in found]
    assert all(text in part.without[path] for part, (_, text) in zip(parts, found, strict=True))


@pytest.mark.parametrize(
    ("path", "content", "after"),
    [
        (
            "a.py",
            b'"""A."""\nfrom __future__ import annotations\n\nX = 1\n',
            b"\n\nraise RuntimeError\nX = 1\n",
        ),
        ("a.py", b"@once\ndef a(): pass\n", b"raise RuntimeError\n@once\ndef a(): pass\n"),
        ("a.sh", b"#!/bin/sh\necho 1\n", b"#!/bin/sh\nexit 97\necho 1\n"),
        ("a.ts", b"export const x = 1;\n", b"throw new Error();\nexport const x = 1;\n"),
        ("a.go", b"package a\n\nvar X = 1\n", b'var X = 1\n\nfunc init() { panic("") }\n'),
    ],
)
def test_a_file_fails_when_it_runs_and_keeps_its_text(path: str, content: bytes, after: bytes) -> None:
    assert (broken(path, content) or b"").endswith(after)


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("a.py", b'"""Only words."""\n'),
        ("a.py", b""),
        ("a.ts", b"export interface Order {\n  id: string;\n}\n"),
    ],
)
def test_a_file_with_nothing_that_runs_is_no_part(path: str, content: bytes) -> None:
    assert broken(path, content) is None


def test_each_computed_answer_of_a_function_with_several_is_a_part() -> None:
    after = b"def median(prices):\n    if not prices:\n        return 0\n    return max(prices)\n"
    assert words("- [ ] `median` is there\n", b"", after) == [
        "shop.py:1: an error at the start of `median`",
        "shop.py:4: an error for this answer of `median`",
    ]


NAMED = Part("a/shop.py", "total", "named", {})
DETAIL = Part("a/shop.py", "_shown", "detail", {})
FILE = Part("bin/export.sh", "", "file", {})
NUMBER = Part("a/shop.py", "19", "number", {}, is_detail=False)
WHOLE = Part("", "", "whole", {}, is_detail=False)


@pytest.mark.parametrize(
    ("tried", "found"),
    [
        ([], []),
        ([(NAMED, True), (DETAIL, False)], []),
        ([(NAMED, False), (DETAIL, False)], ["named"]),
        ([(DETAIL, False)], ["detail"]),
        ([(WHOLE, False), (NAMED, True)], ["whole"]),
        ([(FILE, False), (NAMED, True)], ["file"]),
        ([(NUMBER, False), (NAMED, True)], ["number"]),
        ([(NUMBER, False), (NUMBER._replace(name="20"), True)], []),
        ([(FILE._replace(path="bin/other.sh"), False), (NAMED, True)], []),
    ],
)
def test_a_part_that_nothing_misses_is_asked_about_if_the_phase_promises_it(
    tried: list[tuple[Part, bool]], found: list[str]
) -> None:
    text = "- [ ] `total` is cheaper\n- [ ] `export.sh` writes prices\n"
    assert [part.words for part in unborne(tried, text)] == found
