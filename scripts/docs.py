"""Write what is made from the code: commands, settings, messages, manuals, completions. --check compares."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
import diagrams
import events
import llms
import manuals
import messages
import requirements

from asbuilt.cli.shell.app import root
from asbuilt.cli.shell.lazy import LazyGroup
from asbuilt.proof.projects.known_runners import FOREIGN, TABLE
from asbuilt.settings import NAMED, SETTINGS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from asbuilt.proof.projects.known_runners import Row
    from asbuilt.settings import Setting

ROOT: Final = Path(__file__).parent.parent
NOTE: Final = "<!-- Written by `just docs`; edit the code instead. -->"
SETTINGS_LEAD: Final = """\
Every setting, its default, its environment variable, and who may set it. The first source with a value wins:

1. the organisation's file (`/etc/asbuilt/config.toml`), for keys in its `locked = [...]`
2. the command line
3. the environment
4. the repository's `asbuilt.toml` or `[tool.asbuilt]` in `pyproject.toml` (never both)
5. your own file (`~/.config/asbuilt/config.toml`)
6. the organisation's file
7. the default

`asbuilt config show --origin` shows where each value comes from. Your own file has mode 0600 in a folder with
mode 0700; `asbuilt doctor` reports looser modes."""

COMMANDS_LEAD: Final = """\
Every command with its options, as `-h` prints it. `man asbuilt-COMMAND` has the same. Options below
"Everywhere" work with every command; a command without an answer for scripts has no `--json`."""
EVERYWHERE: Final = "\n\nEverywhere\n"

SUITES_LEAD: Final = """\
asbuilt searches the whole tree of a run's base for test suites: `api/` beside `web/`, workspaces,
crates. Each suite runs in its folder and has a baseline and evidence of its own. A suite that another
one runs already is listed once. Vendored folders are skipped, and so are examples, documents and data of
tests below a suite.

Of several runners in a folder the first row of the table is proposed; the others remain candidates.
`asbuilt run` asks before it uses what it found, and an unattended run stops until the suites are set:

```toml
# asbuilt.toml
[[checks.suites]]
folder = "api"
command = "python -m pytest -q"

[[checks.suites]]
folder = "web"
command = "npm test"
setup = "npm ci"
```

`checks.tests` and `checks.setup` are the same for one suite. Without `setup`, the one that was found for
the folder is used; `setup = "none"` runs none. The setup that is found for pytest also installs the plugins
that its settings need (`addopts = "--cov"` needs pytest-cov) and no list of packages names.

`checks.tests = "none"` says that there are no tests. A suite whose tests cannot be counted stops the run,
unless `checks.counts = "exit-code"` (or `counts` of the suite) accepts its exit code as a weaker proof.

| found | attended | unattended |
|---|---|---|
| suites | tried on the base, then asked | stops, names the settings |
| tests, but no known command | asks whether to continue without | stops |
| tests that start containers | stops | stops |
| nothing | continues | stops, unless every open phase has checks of its own |

Setup has a network, checks have none. Python is prepared in a virtual environment of the check
environment with the first of these that has the runner: dependency groups and extras named test, tests
or testing; what tox, nox or hatch declare for their test environment; requirements files for tests or
development; groups and extras named dev. `uv.lock`, `poetry.lock` and `pdm.lock` pin the versions.
Node.js packages are installed by the lock file's manager, or by npm without a lock file. tox, nox and
hatch are not started: their command runs in that virtual environment."""

TROUBLE_LEAD: Final = """\
Every message that stops a command, with its cause and the next step, by kind. "…" stands for a name, a path
or a number. Search for the words around it.

`asbuilt status PLAN` shows why a plan waits or failed, with the last lines of output. `asbuilt doctor` checks
the machine. Exit code 70 is a bug in asbuilt and has no entry here: attach its crash log to a bug report."""


def commands() -> str:
    """Return the help of every command; options that all commands have are listed once."""
    top = click.Context(root, info_name="asbuilt", help_option_names=["-h", "--help"], show_default=True)
    parts = ["# Commands", NOTE, COMMANDS_LEAD, _shown(root, top)]
    described = [part for name in root.lazy for part in _described(name, root, top)]
    shared = {part.partition(EVERYWHERE)[2] for part in described}
    parts.append(f"```text\nEverywhere\n{max(shared, key=len)}")
    for part in described:
        own, _, everywhere = part.partition(EVERYWHERE)
        parts.append(f"{own}\n```" if everywhere else part)
    return "\n\n".join(parts) + "\n"


def _described(name: str, group: LazyGroup, parent: click.Context) -> Iterator[str]:
    command = group.get_command(parent, name)
    if command is None:
        raise LookupError(name)
    here = click.Context(command, info_name=name, parent=parent)
    yield f"##{'#' * (here.command_path.count(' ') - 1)} {here.command_path}"
    yield _shown(command, here)
    if isinstance(command, LazyGroup):
        for inner in command.lazy:
            yield from _described(inner, command, here)


def _shown(command: click.Command, context: click.Context) -> str:
    return f"```text\n{command.get_help(context)}\n```"


def settings() -> str:
    """Give every setting a heading."""
    every = (*SETTINGS.values(), *NAMED.values())
    return "\n\n".join(["# Settings", NOTE, SETTINGS_LEAD, *map(_setting, every)]) + "\n"


def _setting(setting: Setting) -> str:
    default = ", ".join(map(str, setting.default)) if isinstance(setting.default, tuple) else setting.default
    word = str(default).lower() if isinstance(default, bool) else default
    rows = [
        *([f"- one of: {', '.join(f'`{choice}`' for choice in setting.choices)}"] if setting.choices else []),
        f"- default: `{word}`" if word else "- default: empty",
        *([f"- environment: `{setting.variable}`"] if setting.key in SETTINGS else []),
        f"- a repository {_may(setting)}",
        f"- read by `asbuilt {setting.read_by}`" if setting.read_by else "- no command reads it yet",
    ]
    meaning = f"{setting.meaning[0].upper()}{setting.meaning[1:]}."
    return f"## {setting.key}\n\n{meaning}\n\n" + "\n".join(rows)


def _may(setting: Setting) -> str:
    if setting.tightens:
        return "may make it stricter: values further left in the list"
    return "may set it" if setting.repository_may_set else "may not set it"


def troubleshooting() -> str:
    """List every message that a command can stop with."""
    return "\n\n".join(["# Messages", NOTE, TROUBLE_LEAD, *messages.page(ROOT / "src")]) + "\n"


def required() -> str:
    """Say of every required behaviour what shows it."""
    note = NOTE.replace("the code", "`tests/requirements/`")
    return (
        "---\nsearch: {exclude: true}\n---\n\n"
        + "\n\n".join(
            ["# What is required, and what shows it", note, *requirements.page(requirements.rows())]
        )
        + "\n"
    )


def suites() -> str:
    """List the runners whose suites are found."""
    names = dict.fromkeys(row.name for row in TABLE)
    rows = [
        "| runner | shown by | command | counted by |",
        "|---|---|---|---|",
        *(
            f"| {name} | {_marks(found)} | {_commands(found)} | {_counted(found[0])} |"
            for name, found in ((name, [row for row in TABLE if row.name == name]) for name in names)
        ),
    ]
    by_hand = f"The command of other projects is set by hand: {', '.join(f'`{name}`' for name in FOREIGN)}."
    return "\n\n".join(["# Suites: what proves a tree", NOTE, SUITES_LEAD, "\n".join(rows), by_hand]) + "\n"


def _marks(rows: Sequence[Row]) -> str:
    names = dict.fromkeys(mark.name for row in rows for mark in row.marks)
    return ", ".join(f"`{name}`" for name in names) or "Python tests"


def _commands(rows: Sequence[Row]) -> str:
    told = {
        "{declared}": "the command that it declares", "{arguments}": " …", "{options}": " …",
        "{build}": "build",
        "{maven}": "mvn", "{gradle}": "gradle",
    }  # fmt: skip
    commands = []
    for row in rows:
        command = row.command
        for name, words in told.items():
            command = command.replace(name, words)
        commands.append(command if row.command in told else events.cell_code(command))
    return ", ".join(commands)


def _counted(row: Row) -> str:
    return (
        "its exit code alone, unless it prints a known summary" if row.counts == "exit-code" else row.format
    )


def pages() -> dict[str, str]:
    """Give everything that is made from the code, by its path."""
    made = {
        "docs/reference/commands.md": commands(),
        "docs/reference/events.md": "\n\n".join(["# Events", NOTE, *events.page()]) + "\n",
        "docs/requirements.md": required(),
        "docs/reference/settings.md": settings(),
        "docs/reference/suites.md": suites(),
        "docs/reference/troubleshooting.md": troubleshooting(),
        **{f"share/{name}": text for name, text in manuals.share().items()},
        **diagrams.pages(),
    }
    return {**made, "docs/llms.txt": llms.page(ROOT, made)}


def main() -> int:
    """Write the pages, or say which of them are not what the code says."""
    stale = 0
    every = pages()
    for name, text in every.items():
        file = ROOT / name
        if "--check" not in sys.argv:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        elif not file.exists() or file.read_text(encoding="utf-8") != text:
            stale = 1
            print(f"{name} is not what the code says. Next: just docs")
    for left in sorted(file for file in (ROOT / "share").rglob("*") if file.is_file()):
        if str(left.relative_to(ROOT)) not in every:
            stale = 1
            print(f"{left.relative_to(ROOT)} belongs to no command. Next: git rm it")
    return stale


if __name__ == "__main__":
    sys.exit(main())
