"""A next command has a row of its own: its comment and an alternative are other rows."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.cli.ui.advice import advice_rows
from asbuilt.cli.ui.screen import Pen
from asbuilt.cli.ui.symbols import UNICODE

PEN = Pen(stream=None, styled=False, symbols=UNICODE, utf8=True, width=80)


def rows(text: str, *, other: str = "") -> list[str]:
    return list(advice_rows(PEN, "Next: ", text, other=other))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("`asbuilt run x`", ["Next: asbuilt run x"]),
        ("`asbuilt approve` lists what waits.", ["Next: asbuilt approve", "      # lists what waits"]),
        ("`asbuilt land x`, which asks you", ["Next: asbuilt land x", "      # which asks you"]),
        ("Install git, then: `asbuilt doctor`", ["Next: asbuilt doctor", "      # install git first"]),
        (
            "`asbuilt run x 1`, or all: `asbuilt run x --finish`",
            ["Next: asbuilt run x 1", "  or  all: asbuilt run x --finish"],
        ),
        (
            "Install one, then: `asbuilt doctor`; `asbuilt demo` needs none.",
            [
                "Next: asbuilt doctor",
                "      # install one first",
                "  or  asbuilt demo",
                "      # needs none",
            ],
        ),
        (
            "`asbuilt run x 1`, or all: `asbuilt run x --finish` proves them in order.",
            [
                "Next: asbuilt run x 1",
                "  or  all: asbuilt run x --finish",
                "      # proves them in order",
            ],
        ),
        (
            "`git init` `# with your name`, or look: `asbuilt demo`",
            ["Next: git init", "      # with your name", "  or  look: asbuilt demo"],
        ),
        ("`cd x &&` `make`", ["Next: cd x && make"]),
        ("Give a readable file.", ["Next: Give a readable file."]),
    ],
)
def test_advice_is_a_command_with_a_comment_and_an_alternative(text: str, shown: list[str]) -> None:
    assert rows(text) == shown


WORDS = st.lists(st.from_regex(r"[a-z]{1,8}", fullmatch=True), min_size=1, max_size=6).map(" ".join)


@given(command=WORDS, behind=WORDS, joint=st.sampled_from([" ", ", ", "; ", ": "]))
def test_a_shell_that_reads_the_row_gets_the_command_alone(command: str, behind: str, joint: str) -> None:
    first = rows(f"`{command}`{joint}{behind}.")[0].removeprefix("Next: ")
    assert shlex.split(first) == command.split()


@given(command=WORDS, behind=WORDS, joint=st.sampled_from([" ", ", ", "; "]))
def test_an_alternative_is_a_command_alone_too(command: str, behind: str, joint: str) -> None:
    row, *comment = rows("`asbuilt x`", other=f"`{command}`{joint}{behind}.")[1:]
    assert shlex.split(row.removeprefix("  or  ")) == command.split()
    assert comment == [f"      # {behind}"]
