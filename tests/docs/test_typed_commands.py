"""Every `asbuilt` command that a page shows has the options and arguments that the command takes."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from asbuilt.cli.shell import app

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [
        ROOT / "README.md",
        ROOT / "docs/index.md",
        *ROOT.glob("docs/how-to/*.md"),
        *ROOT.glob("docs/tutorial/*.md"),
    ]
    + [*ROOT.glob("docs/explanation/*.md"), ROOT / "CHANGELOG.md", ROOT / "docs/reference/screens.md"]
    + [ROOT / "docs/reference" / f"{name}.md" for name in ("run-plan", "plans", "roles", "scripted-agent")]
)
_SHOWN = re.compile(r"^(?:\$ )?(asbuilt .*)$", re.MULTILINE)
_QUOTED = re.compile(r"`(asbuilt [^`\n]+)`")
_STOPS = {"&&", "||", "|", ";", "<", ">", "2>"}


def _commands(text: str) -> set[str]:
    fenced = re.findall(r"^ *```(?:sh|console|text)\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL)
    shown = [line.strip() for block in fenced for line in _SHOWN.findall(re.sub(r"(?m)^ +", "", block))]
    quoted = _QUOTED.findall(re.sub(r"(?s)```.*?```", "", text))
    return {command for command in (*shown, *quoted) if "COMMAND" not in command}


def _words(command: str) -> list[str]:
    """Split a command as a shell does, up to what follows it; `…` and `<plan>` are any word."""
    words = shlex.split(re.sub(r"<(\w+)>", r"\1", command), comments=True)[1:]
    end = next((at for at, word in enumerate(words) if word in _STOPS), len(words))
    return [word.rstrip(",") for word in words[:end]]


def _parse(command: click.Command, words: list[str], parent: click.Context | None = None) -> None:
    context = click.Context(
        command, parent=parent, info_name=command.name, help_option_names=["-h", "--help"]
    )
    if isinstance(command, click.Group) and words and not words[0].startswith("-"):
        name, found, rest = command.resolve_command(context, words)
        if found is not None:
            _parse(found, [*rest], context)
            return
        raise click.UsageError(f"no command {name}")
    try:
        command.parse_args(context, [*words])
    except (click.exceptions.NoArgsIsHelpError, click.exceptions.Exit, click.MissingParameter):
        return
    except (click.BadParameter, click.BadOptionUsage):
        # A file that only the reader has, or an option that is mentioned without its value.
        return


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_on_a_page_can_be_typed(page: Path) -> None:
    wrong = []
    for command in sorted(_commands(page.read_text(encoding="utf-8"))):
        try:
            _parse(app.root, _words(command))
        except click.UsageError as error:
            wrong.append(f"{command}: {error.format_message()}")
    assert wrong == []


def test_an_option_that_is_gone_is_found() -> None:
    with pytest.raises(click.UsageError, match="No such option"):
        _parse(app.root, _words("asbuilt run rate-limit --finnish"))
    with pytest.raises(click.UsageError, match="unexpected extra argument"):
        _parse(app.root, _words("asbuilt watch rate-limit 2a && ls"))
