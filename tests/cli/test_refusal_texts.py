"""Each refusal has its three texts in our voice, and names only commands that there are."""

from __future__ import annotations

import re
import shlex
import subprocess

import click
import pytest

from asbuilt.cli.shell.app import COMMANDS, root
from asbuilt.cli.ui.advice import advice_rows
from tests.cli.refusals import HOLE, Place, commands, places
from tests.cli.ui.test_advice import PEN

PLACES = places()
PROSE_FIRST = ("cli/commands/land.py", "cli/commands/run/fleet.py", "plan/editing/refinement.py")
"""Files with advice that no command begins: at the forge, for the owner of a database, to an agent."""


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.name)
def test_every_refusal_has_its_three_texts_in_our_voice(place: Place) -> None:
    assert all((place.what, place.why, place.next_step))
    for text in (place.what, place.why, place.next_step):
        assert re.search(r"\bplease\b|successful|!(\s|$)", text, re.IGNORECASE) is None


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.name)
def test_each_row_of_a_refusals_advice_is_a_command_that_can_be_typed(place: Place) -> None:
    text = place.next_step.replace(HOLE, "x")
    quoted = text.split("`")[1::2]
    if not quoted:
        # Prose alone: no command is hidden in it.
        assert re.search(rf"\basbuilt ({'|'.join(COMMANDS)})\b|\b(git|uv|gh) [a-z]+ ", text) is None
        return
    if place.next_step.startswith(HOLE) or place.file in PROSE_FIRST:
        return
    drawn = [row.strip() for row in advice_rows(PEN._replace(width=500), "Next: ", text)]
    first, *others = (row for row in drawn if not row.startswith("#"))
    assert first.removeprefix("Next: ") in (quoted[0], " ".join(quoted))
    assert all(row.startswith("or  ") and row.endswith(tuple(quoted)) for row in others)


@pytest.mark.parametrize(
    ("place", "command"), [(place, one) for place in PLACES for one in commands(place.next_step)], ids=str
)
def test_every_command_that_a_refusal_names_is_one(place: Place, command: str) -> None:
    del place
    words = shlex.split(command)
    if words[0] == "git":
        known = subprocess.run(["git", "--list-cmds=main"], capture_output=True, text=True, check=True)  # noqa: S607
        verb = words[3] if words[1] == "-C" else words[1]
        assert verb in known.stdout.split()
        return
    here: click.Command = root
    context = click.Context(root)
    rest = words[1:]
    while isinstance(here, click.Group) and rest and not rest[0].startswith("-"):
        found = here.get_command(context, rest.pop(0))
        assert found is not None, command
        here = found
    options = {name for option in here.get_params(context) for name in option.opts}
    assert {word for word in rest if word.startswith("-")} <= options | {"-h"}
