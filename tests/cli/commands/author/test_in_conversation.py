"""What is typed behind /asbuilt:author: options at the end, and what is wanted as it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import pytest

from asbuilt.cli.commands.author.command import command
from asbuilt.cli.commands.author.in_conversation import typed
from asbuilt.session.context.command_arguments import command_in, keep_typed

if TYPE_CHECKING:
    from pathlib import Path

CASES = {
    "limit the API": ["--", "limit the API"],
    "limit the API --name api": ["--name", "api", "--", "limit the API"],
    'it\'s "quoted"\n\n--- and more': ["--", 'it\'s "quoted"\n\n--- and more'],
    "it's urgent --skip-explore --name 'a b'": ["--skip-explore", "--name", "a b", "--", "it's urgent"],
    "add a --verbose flag": ["--", "add a --verbose flag"],
    "add a --light flag to it": ["--", "add a --light flag to it"],
    "teach it --quick --name flags": ["--name", "flags", "--", "teach it --quick"],
    "--name only": ["--name", "only", "--"],
    "": [],
}


@pytest.mark.parametrize("words", CASES)
def test_options_stand_at_the_end_and_the_rest_is_wanted_as_it_stands(words: str, tmp_path: Path) -> None:
    keep_typed(str(tmp_path), "author", words)
    context = click.Context(command, info_name="author")
    assert typed(command, context, str(tmp_path)) == CASES[words]
    # They are taken once.
    assert typed(command, context, str(tmp_path)) == []


def test_only_the_command_itself_is_heard() -> None:
    assert command_in("/asbuilt:author  limit the API\n") == ("author", "limit the API")
    assert command_in("/asbuilt:author") == ("author", "")
    assert [command_in(one) for one in ("/asbuilt:authors x", "say /asbuilt:author", "author x")] == [
        None
    ] * 3
