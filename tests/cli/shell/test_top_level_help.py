"""What is answered without a command: version, help, and names that do not exist."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

import click
import pytest
from inline_snapshot import snapshot

from asbuilt.cli.shell import app
from asbuilt.cli.shell.top_level_help import MORE, TEXT, TOPICS

if TYPE_CHECKING:
    from collections.abc import Callable


def test_the_version_names_the_python_it_runs_on(asbuilt: Callable[..., str]) -> None:
    assert (
        asbuilt("--version")
        == asbuilt("-V")
        == asbuilt("--version", "plan")
        == snapshot("""\
exit 0
--- stdout
asbuilt [VERSION]   Python [PYTHON]
""")
    )


def test_help_is_the_same_text_however_it_is_reached(asbuilt: Callable[..., str]) -> None:
    assert asbuilt("-h") == asbuilt("--help") == asbuilt("--plain", "-h") == f"exit 0\n--- stdout\n{TEXT}\n"


def test_help_and_help_more_name_every_command_that_is_built_and_no_other() -> None:
    context = click.Context(app.root, info_name="asbuilt")
    # Their lines have a label of nine columns before them, or nine spaces.
    lines = [*TEXT.split("\n"), *MORE.split("\n")]
    named = [line[9:].split()[0] for line in lines if line[8:9] == " " and line[9:10].islower()]
    assert [*named[:14], "help", *named[14:]] == app.root.list_commands(context)


def test_help_fits_thirty_lines() -> None:
    assert len(TEXT.split("\n")) <= 30


def test_a_topic_and_a_command_have_help(asbuilt: Callable[..., str]) -> None:
    for topic, text in TOPICS.items():
        assert asbuilt("help", topic) == f"exit 0\n--- stdout\n{text}\n"
    assert asbuilt("help", "plan", "show") == asbuilt("plan", "show", "-h")
    assert asbuilt("help") == asbuilt("-h")


def test_help_names_every_option_that_stands_everywhere() -> None:
    (line,) = [line for line in TEXT.split("\n") if line.startswith("Options")]
    options = [option for option in app.root.params if isinstance(option, click.Option)]
    assert set(line.split()[1:]) - {"DIR", "-h"} == {min(option.opts, key=len) for option in options}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("resume", "run"),
        ("now shop", "run shop"),
        ("why shop --json", "status shop --json"),
        ("next", "status"),
        ("pause shop", "stop --pause shop"),
        ("tell shop 'use Redis 6'", "run shop -m 'use Redis 6'"),
        ("attempts list", "log --attempts"),
        ("attempts diff shop.1.1.1", "log --attempts shop.1.1.1"),
        ("attempts restore shop.1.1.1 --to x", "log shop.1.1.1 --restore x"),
        ("agents list", "doctor agents"),
        ("agents test claude", "doctor agents claude"),
        ("notify test webhook", "doctor notify webhook"),
        ("bug-report --to .git/HEAD/x", "doctor bug-report --to .git/HEAD/x"),
        ("undo shop", "land shop --undo"),
    ],
)
def test_an_old_spelling_names_the_new_one_and_does_the_same(
    asbuilt: Callable[..., str], old: str, new: str
) -> None:
    line = f"asbuilt {old.split(maxsplit=1)[0]} is now: asbuilt {new}\n"
    shown = asbuilt(*shlex.split(old))
    assert line in shown
    if not old.startswith("tell"):
        head, _, rest = asbuilt(*shlex.split(new)).partition("--- stderr\n")
        assert shown == (f"{head}--- stderr\n{line}{rest}")


def test_help_fits_eighty_columns() -> None:
    assert [line for line in TEXT.split("\n") if len(line) > 80] == []


def test_an_unknown_command_is_refused_with_the_nearest_name(asbuilt: Callable[..., str]) -> None:
    assert asbuilt("confg") == snapshot("""\
exit 2
--- stderr
error: asbuilt has no command "confg". Did you mean config?
  Next: asbuilt config
""")


def test_an_unknown_command_of_a_group_is_refused_too(asbuilt: Callable[..., str]) -> None:
    assert asbuilt("config", "shwo") == snapshot("""\
exit 2
--- stderr
error: asbuilt config has no command "shwo". Did you mean show?
  Next: asbuilt config show
""")


def test_an_unknown_option_is_refused_with_the_nearest_name(asbuilt: Callable[..., str]) -> None:
    assert asbuilt("config", "show", "--orign") == snapshot("""\
exit 2
--- stderr
error: asbuilt config show has no option --orign. Did you mean --origin?
  Next: asbuilt config show --origin
""")


def test_a_missing_argument_is_named(asbuilt: Callable[..., str]) -> None:
    assert asbuilt("config", "set", "landing.mode") == snapshot("""\
exit 2
--- stderr
error: asbuilt config set needs VALUE
  Why:  It has no default.
  Next: asbuilt config set -h
        # shows examples and options
""")


def test_a_value_outside_a_choice_is_refused(asbuilt: Callable[..., str]) -> None:
    assert asbuilt("completion", "tcsh") == snapshot("""\
exit 2
--- stderr
error: asbuilt completion: SHELL: 'tcsh' is not one of 'bash', 'zsh', 'fish'
  Next: asbuilt completion -h
        # shows examples and options
""")


def test_one_argument_too_many_is_refused(asbuilt: Callable[..., str]) -> None:
    assert asbuilt("config", "show", "landing.mode", "now") == snapshot("""\
exit 2
--- stderr
error: asbuilt config show: got unexpected extra argument (now)
  Next: asbuilt config show -h
        # shows examples and options
""")


def test_json_is_refused_where_there_is_none(asbuilt: Callable[..., str]) -> None:
    code, _, told = asbuilt("config", "--json", "set", "landing.mode", "pr").partition("\n--- stdout\n")
    document, _, words = told.partition("--- stderr\n")
    assert (code, json.loads(document)["what"]) == ("exit 2", "asbuilt config set has no --json")
    assert words == snapshot("""\
error: asbuilt config set has no --json
  Why:  The command has no machine-readable output.
  Next: asbuilt config set -h
        # lists its options
""")


def test_a_folder_that_is_not_there_is_not_found(asbuilt: Callable[..., str]) -> None:
    assert asbuilt("config", "show", "--repo", "nowhere") == snapshot("""\
exit 3
--- stderr
error: --repo nowhere: no such folder
  Why:  The repository is looked for from that folder upwards.
  Next: ls .
        # shows what exists
""")


def test_a_group_alone_shows_its_commands_and_is_a_usage_error(asbuilt: Callable[..., str]) -> None:
    assert asbuilt("config") == snapshot("""\
exit 2
--- stderr
Show and set what you have chosen.

The highest wins: environment (ASBUILT_LANDING_MODE), the repository's
asbuilt.toml or [tool.asbuilt], your own file, the organisation's file, default.
Values that the organisation locks win over all others.

Examples
  asbuilt config show --origin  every setting, and who set it
  asbuilt config set checks.tests "uv run pytest -q"
                                for everybody who works here
  asbuilt config set plans.folder docs/plans --user
                                for yourself, everywhere

Commands
  show   every setting, its value and who set it
  set    change one value in a settings file
  unset  remove one value from a settings file

Options of a command: asbuilt config COMMAND -h
""")


def test_the_help_of_a_command_shows_examples_before_options(asbuilt: Callable[..., str]) -> None:
    assert asbuilt("config", "set", "-h") == snapshot("""\
exit 0
--- stdout
Change one value in a settings file; comments in it stay.

Inside a repository it writes the repository's asbuilt.toml. What a repository
may not set, such as agents and limits, goes to your own file. The answer names
the file.

Usage  asbuilt config set KEY VALUE [OPTIONS]

Examples
  asbuilt config set checks.tests "uv run pytest -q"
                                                  for everybody who works here
  asbuilt config set plans.folder docs/plans --user
                                                  for yourself, everywhere
  asbuilt config set ui.patterns 'web/**, *.css'  a list: commas between
  asbuilt config set checks.env +API_TOKEN        one more in a list
  asbuilt config set store.url - --user < url.txt
                                                  read the value from a file

Options
  --user  your own file, for every repository (the default outside one)

Everywhere
  --plain        ASCII symbols, no styling
  --no-color     no styling (also by NO_COLOR)
  -q, --quiet    only the answer, and errors
  -v, --verbose  say more on the way
  --no-input     never ask; fail instead
  --repo DIR     look in the repository around DIR
  -h, --help     this text
""")


def test_every_help_fits_eighty_columns(asbuilt: Callable[..., str]) -> None:
    commands = (("config",), ("config", "show"), ("config", "set"), ("completion",))
    pages = [asbuilt(*names, "-h") for names in commands]
    assert [line for page in pages for line in page.split("\n") if len(line) > 80] == []


def test_a_shared_option_works_before_between_and_after_the_names(asbuilt: Callable[..., str]) -> None:
    after = asbuilt("config", "show", "plans.folder", "--json")
    assert asbuilt("--json", "config", "show", "plans.folder") == after
    assert asbuilt("config", "--json", "show", "plans.folder") == after
    assert after.startswith('exit 0\n--- stdout\n{"schema":"asbuilt.config/1"')
