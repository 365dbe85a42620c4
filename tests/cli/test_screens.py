"""Every screen that one looks at, whole: in colour, plain and ASCII, on a wide and a narrow terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from asbuilt.cli.ui.columns import width
from tests.cli.screens import COMMANDS, KEPT, a_night, page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.cli.nights import Night

_ESCAPE = re.compile(r"\\e\[[0-9;]*m")


@pytest.fixture(scope="module")
def night() -> Iterator[Night]:
    with a_night() as made:
        yield made


@pytest.mark.parametrize("name", COMMANDS)
def test_a_screen_is_as_it_was_kept(night: Night, name: str) -> None:
    kept = (KEPT / f"{name}.txt").read_text(encoding="utf-8")
    assert page(night, name) == kept, "python -m tests.cli.screens writes it anew; read the difference"


def test_every_kept_screen_is_shown_by_a_command() -> None:
    assert {file.stem for file in KEPT.iterdir()} == set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_no_kept_line_is_wider_than_its_terminal(name: str) -> None:
    kind, columns = "", 0
    for line in (KEPT / f"{name}.txt").read_text(encoding="utf-8").split("\n"):
        if line.startswith("==="):
            kind, _, told = line.removeprefix("=== ").partition(", ")
            columns = int(told.split()[0])
            continue
        shown = _ESCAPE.sub("", line)
        is_command = shown.strip().removeprefix("Next: ").startswith("asbuilt ")
        assert width(shown) <= columns or is_command, line
        assert kind == "colour" or "\\e" not in line
        assert kind != "ascii" or shown.isascii()
