"""What is answered without a command: version, help, the first screen, and names that do not exist."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click
from inline_snapshot import snapshot

from asbuilt.cli.commands.start import show_start
from asbuilt.cli.shell import app
from asbuilt.cli.shell.help import TEXT
from asbuilt.cli.ui.screen import Pen, Screen, pen_for
from asbuilt.library.repository import find_repository

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest


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


def test_help_names_every_command_that_is_built_and_no_other() -> None:
    context = click.Context(app.root, info_name="asbuilt")
    # Their lines have a label of eight columns before them, or eight spaces.
    words = [line[8:].split() for line in TEXT.split("\n") if line[7:8] == " " and line[8:9].isalpha()]
    assert [name for name, *_ in words] == app.root.list_commands(context)
    for name in ("plan", "claim", "config"):
        command = app.root.get_command(context, name)
        assert isinstance(command, click.Group)
        assert [name, *command.list_commands(context)] in words


def test_help_names_every_option_that_stands_everywhere() -> None:
    (line,) = [line for line in TEXT.split("\n") if line.startswith("Everywhere")]
    options = [option for option in app.root.params if isinstance(option, click.Option)]
    assert set(line.split()[1:]) - {"DIR", "-h"} == {min(option.opts, key=len) for option in options}


def test_help_fits_eighty_columns() -> None:
    assert [line for line in TEXT.split("\n") if len(line) > 80] == []


def test_bare_asbuilt_says_where_you_are_and_writes_nothing(asbuilt: Callable[..., str], shop: Path) -> None:
    before = sorted(shop.rglob("*"))
    assert asbuilt() == snapshot("""\
exit 0
--- stdout
asbuilt [VERSION]   shop-api on main
No plans here yet. Nothing has been written to this repository.

  asbuilt author "what you want"     agents plan it, you approve it
  asbuilt plan show PATH             read a plan you already have
  asbuilt demo                       see a small plan run: 30 s, no model
  asbuilt -h                         everything this version can do
""")
    assert sorted(shop.rglob("*")) == before


def test_bare_asbuilt_outside_a_repository_says_so(asbuilt: Callable[..., str], tmp_path: Path) -> None:
    assert asbuilt(cwd=tmp_path).splitlines()[2] == snapshot("asbuilt [VERSION]   not in a Git repository")


def test_the_first_screen_counts_plans(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pen: Pen = pen_for(sys.stdout, environ={}, plain=False, no_color=True)
    screen = Screen(out=pen, err=pen)
    for plans in (0, 1, 3):
        show_start(screen, repository=find_repository(shop), plans=plans)
    show_start(screen, repository=None, plans=0)
    assert [line for line in capsys.readouterr().out.split("\n") if " here" in line[:20]] == snapshot(
        [
            "No plans here yet. Nothing has been written to this repository.",
            "1 plan here.",
            "3 plans here.",
            "No plans here yet.",
        ]
    )


def test_the_first_screen_breaks_no_word_on_a_narrow_terminal(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pen = pen_for(sys.stdout, environ={}, plain=False, no_color=True)._replace(width=60)
    screen = Screen(out=pen, err=pen)
    show_start(screen, repository=find_repository(shop), plans=0)
    assert capsys.readouterr().out.split("\n", 1)[1] == snapshot("""\
No plans here yet. Nothing has been written to this
repository.

  asbuilt author "what you want"     agents plan it, you
                                     approve it
  asbuilt plan show PATH             read a plan you already
                                     have
  asbuilt demo                       see a small plan run:
                                     30 s, no model
  asbuilt -h                         everything this version
                                     can do
""")


def test_an_unknown_command_is_refused_with_the_nearest_name(asbuilt: Callable[..., str]) -> None:
    assert asbuilt("confg") == snapshot("""\
exit 2
--- stderr
error: asbuilt has no command "confg". Did you mean config?
  Why:  A guess could do something you did not mean; nothing was done.
  Next: asbuilt -h lists the commands.
""")


def test_an_unknown_command_of_a_group_is_refused_too(asbuilt: Callable[..., str]) -> None:
    assert asbuilt("config", "shwo") == snapshot("""\
exit 2
--- stderr
error: asbuilt config has no command "shwo". Did you mean show?
  Why:  A guess could do something you did not mean; nothing was done.
  Next: asbuilt config -h lists the commands.
""")


def test_an_unknown_option_is_refused_with_the_nearest_name(asbuilt: Callable[..., str]) -> None:
    assert asbuilt("config", "show", "--orign") == snapshot("""\
exit 2
--- stderr
error: asbuilt config show has no option --orign. Did you mean --origin?
  Why:  A guess could do something you did not mean; nothing was done.
  Next: asbuilt config show -h shows examples and options.
""")


def test_a_missing_argument_is_named(asbuilt: Callable[..., str]) -> None:
    assert asbuilt("config", "set", "landing.mode") == snapshot("""\
exit 2
--- stderr
error: asbuilt config set needs VALUE
  Why:  There is no default for it; nothing was done.
  Next: asbuilt config set -h shows examples and options.
""")


def test_a_value_outside_a_choice_is_refused(asbuilt: Callable[..., str]) -> None:
    assert asbuilt("completion", "tcsh") == snapshot("""\
exit 2
--- stderr
error: asbuilt completion: SHELL: 'tcsh' is not one of 'bash', 'zsh', 'fish'
  Why:  A guess could do something you did not mean; nothing was done.
  Next: asbuilt completion -h shows examples and options.
""")


def test_one_argument_too_many_is_refused(asbuilt: Callable[..., str]) -> None:
    assert asbuilt("config", "show", "landing.mode", "now") == snapshot("""\
exit 2
--- stderr
error: asbuilt config show: got unexpected extra argument (now)
  Why:  A guess could do something you did not mean; nothing was done.
  Next: asbuilt config show -h shows examples and options.
""")


def test_json_is_refused_where_there_is_none(asbuilt: Callable[..., str]) -> None:
    assert asbuilt("config", "--json", "set", "landing.mode", "pr") == snapshot("""\
exit 2
--- stderr
error: asbuilt config set has no --json
  Why:  A script would wait for JSON and get words.
  Next: asbuilt config set -h lists its options.
""")


def test_a_folder_that_is_not_there_is_not_found(asbuilt: Callable[..., str]) -> None:
    assert asbuilt("config", "show", "--repo", "nowhere") == snapshot("""\
exit 3
--- stderr
error: --repo nowhere: no such folder
  Why:  The repository is looked for from that folder upwards.
  Next: Name a folder that is there.
""")


def test_a_group_alone_shows_its_commands_and_is_a_usage_error(asbuilt: Callable[..., str]) -> None:
    assert asbuilt("config") == snapshot("""\
exit 2
--- stderr
Show and set what you have chosen.

The highest wins: environment (ASBUILT_LANDING_MODE), the repository's
asbuilt.toml or [tool.asbuilt], your own file, the organisation's file, default.
What the organisation locks stands above all.

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
