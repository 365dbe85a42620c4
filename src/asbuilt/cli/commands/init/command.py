"""`asbuilt init`: show what is here and what can be installed; with an option, install it into an agent."""

from __future__ import annotations

from difflib import unified_diff
from pathlib import Path
from typing import Any, Final, NamedTuple

import click
from msgspec import structs

from asbuilt.cli.commands.doctor.facts import SandboxFacts
from asbuilt.cli.commands.doctor.machine import look_at_sandbox
from asbuilt.cli.commands.doctor.repository import set_suites
from asbuilt.cli.commands.doctor.rows import SANDBOXES
from asbuilt.cli.commands.init.agent_targets import TOOLS, Seat, seat_of
from asbuilt.cli.commands.init.importing import bring, found_here
from asbuilt.cli.commands.init.placing import (
    NONE_PLACED,
    Placed,
    Record,
    changes,
    content,
    keep_record,
    place,
    take_away,
    would_take,
)
from asbuilt.cli.commands.init.registering import (
    AnotherMarketplace,
    NotAnObject,
    Registration,
    register,
    unregister,
)
from asbuilt.cli.runs.next_step import Next, before_work, installed, place_of
from asbuilt.cli.shell.options import Door, subcommand, with_options
from asbuilt.cli.ui.messages import answer, headline, next_command
from asbuilt.cli.ui.screen import printable
from asbuilt.cli.ui.words import counted, listed
from asbuilt.errors import DONE, GitFailed, SettingsNotWritten, UsageWrong
from asbuilt.flows.checks.project import project_of
from asbuilt.flows.checks.prove import tree_of
from asbuilt.git.repository import open_repository, resolve
from asbuilt.library.atomic_files import create, replace
from asbuilt.library.repository_discovery import Repository, find_repository
from asbuilt.plan.markdown.source import digest
from asbuilt.proof.test_command_trials import ways
from asbuilt.session.bytecode import compile_hooks
from asbuilt.settings import Layer, survey
from asbuilt.settings.files import correcting


class Found(NamedTuple):
    """What a run would use here."""

    place: tuple[str, str]
    """The repository's name, and its branch in words."""
    repository: Repository | None
    settings: tuple[str, ...]
    """The repository's own settings, each with its line."""
    agents: tuple[str, ...]
    tests: str
    """The chosen test command; empty: none is chosen."""
    ways: tuple[str, ...]
    """Test commands that fit the last commit; none of them was run."""
    sandbox: SandboxFacts


def look(door: Door) -> Found:
    """Look at the repository, its settings, the PATH and the sandbox. No agent and no test is started."""
    repository = find_repository(door.start)
    settings, _ = survey(repository=repository.root if repository else None, environ=door.environ)
    own = [
        choice.origin.where for choice in settings.chosen.values() if choice.origin.layer is Layer.REPOSITORY
    ]
    return Found(
        place=place_of(repository, door.start),
        repository=repository,
        settings=tuple(own),
        agents=tuple(installed(door.environ)),
        tests=settings.text("checks.tests") or ", ".join(set_suites(settings)),
        ways=_ways(repository.root) if repository else (),
        sandbox=look_at_sandbox(required=settings.flag("sandbox.required")),
    )


def _ways(root: Path) -> tuple[str, ...]:
    try:
        repository = open_repository(root)
        commit = resolve(repository, "HEAD")
        found = ways(project_of(repository, tree_of(repository, commit))) if commit else ()
    except GitFailed:
        return ()
    return tuple(way.shown for way in found)


def show(door: Door, found: Found) -> None:
    """Print what was found, one row each."""
    headline(door, *found.place)
    for lead, words in (
        ("settings", _settings(found)),
        ("agent", ", ".join(found.agents) or "none found: install claude, codex, gemini or opencode"),
        ("tests", _tests(found)),
        ("sandbox", _sandbox(found.sandbox)),
    ):
        answer(door, f"  {lead:<10}", words)


def _show_next(door: Door, found: Found) -> None:
    """Print the one command to type next: what git needs comes before all that asbuilt does."""
    first = found.repository and before_work(found.repository)
    (first or Next(next_step(door, found))).show(door)


def next_step(door: Door, found: Found) -> str:
    """Return the one command to type next, which works here."""
    if found.sandbox.required and not found.sandbox.holds:
        return "asbuilt doctor --fix sandbox"
    if found.repository is None:
        return "asbuilt demo"
    if not found.agents:
        # Not the demo, which ends with `asbuilt init`.
        return "asbuilt doctor agents"
    fitting = [name for name in found.agents if name in TOOLS]
    missing = next((name for name in fitting if not seat_of(name, door.environ).record.files), None)
    if missing:
        return f"asbuilt init --{missing}"
    if found.ways and not found.tests:
        return "asbuilt doctor --tests"
    return 'asbuilt author "what you want to build"'


def _settings(found: Found) -> str:
    files = dict.fromkeys(where.partition(":")[0] for where in found.settings)
    if not files:
        return "asbuilt's defaults; asbuilt.toml changes them"
    return f"{counted(len(found.settings), 'value')} from {listed([*files])}"


def _tests(found: Found) -> str:
    if found.tests:
        return found.tests
    if not found.ways:
        return "none found; a plan's own checks still run"
    more = f" (and {len(found.ways) - 1} more)" if len(found.ways) > 1 else ""
    return f"{found.ways[0]}{more}, found and not tried yet"


def _sandbox(sandbox: SandboxFacts) -> str:
    if sandbox.holds:
        return f"{SANDBOXES[sandbox.level]} {sandbox.version}, tested just now".replace(" ,", ",")
    return f"unavailable: {'; '.join(refusal.what for refusal in sandbox.refusals)}"


class Rewrite(NamedTuple):
    """The planned change of a settings file."""

    before: str | None
    after: str | None
    """None: no file."""
    kept: Registration | None


def naming(seat: Seat, file: Path) -> Rewrite:
    """Plan the change that adds the plugin to the settings."""
    name, kept = seat.shown(file), seat.record.settings.get(str(file))
    before = _text(file, name)
    try:
        after, kept = register(before, str(seat.folder), kept)
    except NotAnObject as error:
        raise _not_written(file, name, error) from error
    except AnotherMarketplace as error:
        raise SettingsNotWritten(
            f"{name} knows another marketplace that is named asbuilt",
            why="Claude Code would use its plugin instead.",
            next_step="`claude plugin marketplace remove asbuilt`, then repeat the command.",
        ) from error
    return Rewrite(before, after, kept)


def forgetting(seat: Seat, file: Path) -> Rewrite:
    """Plan the change that removes the plugin from the settings."""
    name = seat.shown(file)
    before = _text(file, name)
    if before is None:
        return Rewrite(None, None, None)
    try:
        after = unregister(before, str(seat.folder), seat.record.settings.get(str(file)))
    except NotAnObject as error:
        raise _not_written(file, name, error) from error
    return Rewrite(before, after, None)


def rewrite(file: Path, planned: Rewrite, record: Record, keep: Path) -> Record:
    """Apply the change if the file is unchanged since it was read, and record how to undo it."""
    others = {path: registration for path, registration in record.settings.items() if path != str(file)}
    after = structs.replace(record, settings={**others, str(file): planned.kept} if planned.kept else others)
    if planned.kept:
        # Write the record first, so that the entries of a killed command can be removed.
        keep_record(keep, after)
    if planned.before is None and planned.after is not None:
        create(file, planned.after.encode())
    elif planned.before is not None and planned.after != planned.before:
        replace(file, (planned.after or "").encode(), expected=digest(planned.before.encode()))
        if planned.after is None:
            file.unlink()
    keep_record(keep, after)
    return after


def _text(file: Path, name: str) -> str | None:
    before = content(file)
    try:
        return None if before is None else before.decode()
    except UnicodeDecodeError as error:
        raise _not_written(file, name, error) from error


def _not_written(file: Path, name: str, error: ValueError) -> SettingsNotWritten:
    reason = str(error) if isinstance(error, NotAnObject) else "it is not UTF-8"
    return SettingsNotWritten(
        f"{name} cannot be read as JSON: {reason}",
        why="Claude Code ignores such a file as a whole, and what we add to it would be lost.",
        next_step=f"{correcting(file)}, then repeat the command.",
    )


_SCHEMA: Final = "asbuilt.init/1"


@subcommand(
    "init",
    ("asbuilt init", "what is here: agent, tests, sandbox, and the next step"),
    ("asbuilt init --claude", "the plugin of Claude Code, for you alone"),
    ("asbuilt init --claude --dry-run", "what that would write; nothing is written"),
    ("asbuilt init --claude --remove", "take it away; settings are as they were"),
    ("asbuilt init --codex --gemini", "the same commands in other agents"),
    ("asbuilt init --import", "settings of zskills and Claude Code; shows the difference first"),
)
@with_options(
    *(click.option(f"--{row.name}", is_flag=True, help=f"{row.title}: {row.gets}") for row in TOOLS.values())
)
@click.option("--remove", is_flag=True, help="remove it again")
@click.option("--import", "imports", is_flag=True, help="import settings of zskills and Claude Code")
@click.option("--yes", is_flag=True, help="import without a question")
@click.option("--dry-run", is_flag=True, help="show what would change, and write nothing")
def command(door: Door, *, remove: bool, imports: bool, yes: bool, dry_run: bool, **chosen: bool) -> int:
    """Install asbuilt into the agent that you use. Nothing is written into a repository.

    Without an option it writes nothing. It shows the settings, agents, tests and sandbox of a run.

    For Claude Code a plugin is written into your data folder and named in your settings.json: two entries are
    added, and nothing else in it changes.

    --import reads .claude/zskills-config.json, plansDirectory of Claude Code's settings, and its
    CLAUDE_CODE_PLAN variables, shows what differs from your settings, and writes them after a yes.
    """
    seats = [seat_of(name, door.environ) for name in TOOLS if chosen[name]]
    if imports and (seats or remove):
        raise UsageWrong(
            "--import takes no agent and no --remove",
            why="It writes settings, and the other options write files of an agent.",
            next_step="`asbuilt init --import`",
        )
    if imports:
        return bring(door, dry_run=dry_run, yes=yes)
    if not seats:
        if remove or dry_run:
            raise UsageWrong(
                f"{'--remove' if remove else '--dry-run'} needs the name of an agent",
                why="Every agent has its own files.",
                next_step="`asbuilt init --claude --remove` removes those of Claude Code.",
            )
        return _overview(door)
    agents = [(_remove if remove else _set_up)(door, seat, dry_run=dry_run) for seat in seats]
    if door.emitted(_SCHEMA, {"dry_run": dry_run, "agents": agents}) or remove or dry_run:
        return DONE
    has_gate = any(seat.settings for seat in seats)
    if has_gate:
        door.screen.answer("Active in new conversations, and in open ones after /reload-plugins.")
    door.screen.answer()
    seen = look(door)
    show(door, seen)
    if has_gate:
        next_command(door, "asbuilt doctor", comment="tests the gate")
    else:
        _show_next(door, seen)
    return DONE


def _overview(door: Door) -> int:
    there = {name: bool(seat_of(name, door.environ).record.files) for name in TOOLS}
    seen = look(door)
    here = {"agents": seen.agents, "tests": seen.tests, "ways": seen.ways, "sandbox": seen.sandbox.level}
    if door.emitted(_SCHEMA, {"set_up": there, "found": here}):
        return DONE
    screen, symbols = door.screen, door.screen.out.symbols
    show(door, seen)
    screen.answer("Wrote nothing. An option installs asbuilt into that agent (files in your home).")
    screen.answer()
    for name, tool in TOOLS.items():
        mark = symbols.proven if there[name] else symbols.not_started
        typed = screen.out.bold(f"{f'asbuilt init --{name}':<23}")
        screen.answer(f"{mark} {typed}  {tool.gets}")
    others = [found for found in found_here(door, find_repository(door.start)) if found.setting is not None]
    if others:
        words = f"{counted(len(others), 'setting')} of other tools can be imported: asbuilt init --import"
        screen.answer_all(("", words))
    _show_next(door, seen)
    return DONE


def _set_up(door: Door, seat: Seat, *, dry_run: bool) -> dict[str, Any]:
    files, record = seat.files(), seat.record
    # Raise all refusals before anything is written.
    planned = changes(files, record, seat.shown)
    named = naming(seat, seat.settings) if seat.settings else None
    if not dry_run:
        record = place(files, planned, seat.top, record, seat.keep)
        if seat.settings and named:
            rewrite(seat.settings, named, record, seat.keep)
            compile_hooks()
    if not door.json:
        _report(door, seat, planned, named, dry_run=dry_run)
    return _json(seat, planned, named)


def _remove(door: Door, seat: Seat, *, dry_run: bool) -> dict[str, Any]:
    record = seat.record
    named = forgetting(seat, seat.settings) if seat.settings else None
    # Another Claude Code configuration may still name the plugin; then its files stay.
    others = record.settings.keys() - {str(seat.settings)}
    planned = NONE_PLACED if others else would_take(record)
    if not dry_run:
        if seat.settings and named:
            record = rewrite(seat.settings, named, record, seat.keep)
        if not record.settings:
            planned = take_away(seat.top, record, seat.keep)
    if not door.json:
        _report(door, seat, planned, named, dry_run=dry_run)
    return _json(seat, planned, named)


def _report(door: Door, seat: Seat, placed: Placed, named: Rewrite | None, *, dry_run: bool) -> None:
    symbols = door.screen.out.symbols
    would = "would be " if dry_run else ""
    folder = printable(seat.shown(seat.folder))
    parts = [
        *([f"{counted(len(placed.written), 'file')} {would}written"] if placed.written else []),
        *([f"{counted(len(placed.removed), 'file')} {would}removed"] if placed.removed else []),
        *([f"{len(placed.left)} left: changed by others"] if placed.left else []),
    ]
    mark = symbols.not_started if dry_run else symbols.note if placed.left else symbols.proven
    door.screen.answer(f"{mark} {seat.tool.name:<9} {folder}   {', '.join(parts) or 'nothing to change'}")
    if seat.settings is None or named is None:
        return
    name = printable(seat.shown(seat.settings))
    if named.before == named.after:
        words = "nothing to change"
    elif named.after is None:
        words = f"{would}removed; it was not there before"
    elif named.before is None:
        words = f"{would}written"
    else:
        words = f"2 entries {would}{'removed' if named.kept is None else 'added'}, nothing else"
    mark = symbols.not_started if dry_run else symbols.proven
    door.screen.answer(f"{mark} {'settings':<9} {name}   {words}")
    if dry_run:
        before, after = ((text or "").splitlines() for text in (named.before, named.after))
        for line in list(unified_diff(before, after, lineterm="", n=1))[2:]:
            door.screen.answer(f"    {printable(line)}".rstrip())


def _json(seat: Seat, placed: Placed, named: Rewrite | None) -> dict[str, Any]:
    return {
        "agent": seat.tool.name,
        "folder": str(seat.folder),
        "written": [str(file) for file in placed.written],
        "removed": [str(file) for file in placed.removed],
        "left": [str(file) for file in placed.left],
        "settings": str(seat.settings) if seat.settings else None,
        "settings_changed": named is not None and named.before != named.after,
    }
