"""Code is the same if only what a reader sees differs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.proof.suites.same_code import But, is_same_code

PYTHON = b"def total(prices, rate=1):\n    return sum(prices) * rate\n"
SOURCES = {
    "a.py": PYTHON,
    "a.js": b"const a = (x) => x + 1;\n",
    "a.go": b"package a\n\nvar X = 1\n",
    "a.sh": b"#!/bin/sh\necho 1\n",
    "a.rb": b"puts 1\n",
}


@pytest.mark.parametrize(
    ("after", "but", "is_same"),
    [
        (b"# why\n" + PYTHON, But.NOTHING, True),
        (PYTHON.replace(b"    return", b'    """Add up."""\n    return'), But.NOTHING, True),
        (PYTHON.replace(b"prices,", b"prices: list[int],"), But.NOTHING, False),
        (PYTHON.replace(b"prices,", b"prices: list[int],"), But.ANNOTATIONS, True),
        (PYTHON.replace(b"rate=1", b"rate=2"), But.ANNOTATIONS, False),
        (PYTHON.replace(b"rate=1", b"rate=2"), But.PARAMETERS, True),
        (PYTHON.replace(b"* rate", b"+ rate"), But.ANNOTATIONS | But.PARAMETERS, False),
        (PYTHON.replace(b"1", b"True"), But.NOTHING, False),
        (None, But.NOTHING, False),
        (b"def (", But.NOTHING, False),
    ],
)
def test_python_is_the_same_but_for_words_and_what_is_left_out(
    after: bytes | None, but: But, *, is_same: bool
) -> None:
    assert is_same_code("a.py", PYTHON, after, but) is is_same
    assert is_same_code("a.py", after, PYTHON, but) is is_same


@given(
    st.sampled_from(sorted(SOURCES)),
    st.text(st.characters(codec="ascii", exclude_characters="\r\n\0"), max_size=20),
)
def test_a_comment_changes_no_code_that_is_parsed_here(path: str, words: str) -> None:
    mark = "//" if path.endswith((".js", ".go")) else "#"
    before, lines = SOURCES[path], SOURCES[path].splitlines(keepends=True)
    after = b"".join((lines[0], f"{mark} {words}\n".encode(), *lines[1:]))
    assert is_same_code(path, before, after) is (path != "a.rb")
