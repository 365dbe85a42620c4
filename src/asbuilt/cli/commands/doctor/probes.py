"""Run every probe once, and probe the forge, the installed hook and the state folder.

Rule: probes change nothing.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from msgspec import structs

from asbuilt.cli.commands.doctor import facts as fact
from asbuilt.cli.commands.doctor import machine
from asbuilt.cli.commands.doctor.facts import GateFacts
from asbuilt.cli.commands.doctor.repository import (
    error_facts,
    look_at_git,
    look_at_tests,
    look_for_agents,
    try_tests,
    version_of,
)
from asbuilt.cli.commands.init.agent_targets import Seat, seat_of
from asbuilt.cli.commands.init.registering import NotAnObject, is_registered
from asbuilt.cli.commands.init.rendering import HOOKS
from asbuilt.cli.shell.options import Door
from asbuilt.errors import ForgeFailed, GitFailed, NotFound, StoreFailed
from asbuilt.flows.environments.limits_and_variables import Given
from asbuilt.flows.fleet.membership import labels_of, large_blobs
from asbuilt.git.forge.branches import Remote
from asbuilt.git.forge.gh import Gh
from asbuilt.git.forge.github import open_forge
from asbuilt.git.repository import open_repository
from asbuilt.journal.database.schema import STEPS
from asbuilt.journal.home import Home, refuse_network
from asbuilt.journal.ids import LOCAL
from asbuilt.journal.notifications import Undelivered, undelivered
from asbuilt.library.repository_discovery import find_repository, remote_of
from asbuilt.lifecycle.fleet import canonical, without_login
from asbuilt.settings import Settings, state_folder, survey
from asbuilt.settings.files import loose
from asbuilt.settings.running import command_in
from asbuilt.wiring import open_store, worker_pid

_TIMEOUT_S: Final = 20
_PASSED: Final = ("PATH", "HOME", "LANG", "LC_ALL")


def look_at_gate(environ: Mapping[str, str]) -> GateFacts:
    """Send the installed hook a write outside the plan, in plan mode."""
    seat = seat_of("claude", environ)
    command = _command(seat)
    if command is None:
        return GateFacts(installed=False)
    refused, took_ms, last_line = _tried(command, environ)
    return GateFacts(
        installed=True,
        enabled=_is_enabled(seat),
        version=str(_json(seat.folder / ".claude-plugin" / "plugin.json").get("version", "")),
        refused=refused,
        took_ms=took_ms,
        output=last_line,
    )


def _command(seat: Seat) -> str | None:
    try:
        return str(_json(seat.folder / HOOKS)["hooks"]["PreToolUse"][0]["hooks"][0]["command"])
    except (KeyError, IndexError, TypeError):
        return None


def _is_enabled(seat: Seat) -> bool:
    try:
        text = seat.settings.read_text(encoding="utf-8") if seat.settings else None
        return is_registered(text, str(seat.folder))
    except (OSError, UnicodeDecodeError, NotAnObject):
        return False


def _json(file: Path) -> dict[str, Any]:
    try:
        value = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _tried(command: str, environ: Mapping[str, str]) -> tuple[bool, float, str]:
    with tempfile.TemporaryDirectory(prefix="asbuilt-doctor-") as scratch:
        payload = {
            "session_id": "asbuilt-doctor",
            "transcript_path": f"{scratch}/transcript.jsonl",
            "cwd": scratch,
            "permission_mode": "plan",
            "hook_event_name": "PreToolUse",
            "tool_name": "Write",
            "tool_input": {"file_path": f"{scratch}/outside-the-plan.txt", "content": "known bad"},
            "tool_use_id": "asbuilt-doctor",
        }
        given = {name: environ[name] for name in _PASSED if name in environ}
        began = time.perf_counter()
        try:
            ended = subprocess.run(  # noqa: S603 - our own command, as Claude Code would run it
                ["/bin/sh", "-c", command],
                input=json.dumps(payload).encode(),
                env={**given, "ASBUILT_HOME": f"{scratch}/state", "CLAUDE_PID": str(os.getpid())},
                cwd=scratch,
                capture_output=True,
                timeout=_TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return False, 0.0, f"no answer in {_TIMEOUT_S} s"
        took_ms = (time.perf_counter() - began) * 1000
    lines = (ended.stderr or ended.stdout).decode("utf-8", "replace").strip().splitlines()
    return (
        _refuses(ended.returncode, ended.stdout),
        took_ms,
        lines[-1] if lines else f"exit {ended.returncode}",
    )


def _refuses(code: int, printed: bytes) -> bool:
    """Return whether Claude Code would block the call. Only these two forms block it."""
    if code == 2:
        return True
    try:
        output = json.loads(printed)["hookSpecificOutput"]
        return code == 0 and (output["hookEventName"], output["permissionDecision"]) == ("PreToolUse", "deny")
    except (ValueError, KeyError, TypeError):
        return False


_KNOWN_SCHEMA: Final = STEPS[-1].number


def look_at_store(home: Home, settings: Settings) -> fact.StoreFacts:
    """Return where the journal is, its schema or error, and the free disk space."""
    schema, failure = None, None
    try:
        refuse_network(home.path)
        schema = _schema(home, settings)
    except StoreFailed as error:
        failure = error_facts(error)
    return fact.StoreFacts(
        database="Postgres" if settings.text("store.url") else "SQLite",
        free_bytes=_free(home.path),
        schema=schema,
        known_schema=_KNOWN_SCHEMA,
        error=failure,
    )


def look_at_notices(home: Home, settings: Settings) -> tuple[Undelivered, ...]:
    """Return notification channels whose last message failed; empty without a readable journal."""
    try:
        if _schema(home, settings) != _KNOWN_SCHEMA:
            return ()
        with closing(open_store(home, settings)) as store, store.read() as session:
            return tuple(undelivered(session, LOCAL))
    except StoreFailed:
        return ()


def look_at_worker(home: Home) -> fact.WorkerFacts:
    """Return whether a process holds the worker's lock, and its id."""
    pid = worker_pid(home)
    return fact.WorkerFacts(running=pid is not None, pid=pid or None)


def _schema(home: Home, settings: Settings) -> int | None:
    if not settings.text("store.url") and not home.journal.exists():
        return None
    with closing(open_store(home, settings)) as store:
        return store.version()


def _free(folder: Path) -> int | None:
    there = next((path for path in (folder, *folder.parents) if path.exists()), None)
    try:
        return shutil.disk_usage(there).free if there else None
    except OSError:
        return None


def look(door: Door, *, tests: Given | None = None) -> fact.Facts:
    """Collect the facts. With `tests`, what checks get besides a checkout, the tests run, too."""
    began = machine.moment()
    repository = find_repository(door.start)
    settings, problems = survey(repository=repository.root if repository else None, environ=door.environ)
    home = Home(state_folder(door.environ))
    git = look_at_git(door.start, door.environ)
    sandbox = machine.look_at_sandbox(required=settings.flag("sandbox.required"))
    suite = look_at_tests(settings, door.environ)
    if tests is not None and git.has_commits:
        setup = command_in(settings, "checks.setup")
        suite = (
            try_tests(suite, door.start, setup=setup, hidden=home.path, given=tests)
            if sandbox.holds or not sandbox.required
            else structs.replace(suite, tried=fact.Tried(outcome="NOT_RUN", why="no sandbox holds them"))
        )
    agents = look_for_agents(door.environ)
    gate = look_at_gate(door.environ)
    uses_claude = any(agent.name == "claude" for agent in agents.found)
    return fact.Facts(
        git=git,
        settings=tuple(error_facts(problem) for problem in problems),
        agents=agents,
        sandbox=sandbox,
        reach=machine.look_at_reach(door.environ, settings) if sandbox.level == "bwrap" else None,
        gate=gate if gate.installed or uses_claude else None,
        tests=suite,
        store=look_at_store(home, settings),
        worker=look_at_worker(home),
        power=machine.look_at_power(inhibit=settings.flag("power.inhibit")),
        clock=machine.look_at_clock(began),
        forge=look_at_forge(door.start, door.environ, wanted=settings.text("landing.mode") == "pr"),
        fleet=look_at_fleet(home, settings, door.start, door.environ),
        loose=fact.LooseFacts(paths=tuple(map(str, paths))) if (paths := loose(door.environ)) else None,
        undelivered=look_at_notices(home, settings),
    )


def look_at_fleet(
    home: Home, settings: Settings, start: Path, environ: Mapping[str, str]
) -> fact.FleetFacts | None:
    """Return what a fleet shares, and what of it cannot be reached; None on a journal of one machine."""
    if not settings.text("store.url"):
        return None
    joined, place = labels_of(home), settings.text("store.blobs")
    seen = fact.FleetFacts(labels=None if joined is None else tuple(sorted(joined)), large=place)
    errors: list[fact.ErrorFacts] = []
    try:
        large = large_blobs(home, settings, environ)
        if large is not None:
            large.check()
    except StoreFailed as error:
        errors.append(error_facts(error))
    try:
        repository = open_repository(start)
    except (NotFound, GitFailed):
        return structs.replace(seen, errors=tuple(errors))
    url = remote_of(repository.common) or ""
    remote = canonical(url)
    for address in filter(None, (url, settings.text("fleet.attempts"))) if remote else ():
        try:
            Remote.at(repository, without_login(address), environ).listed("HEAD")
        except ForgeFailed as error:
            errors.append(error_facts(error))
    return structs.replace(seen, has_repository=True, remote=remote, errors=tuple(errors))


def look_at_forge(start: Path, environ: Mapping[str, str], *, wanted: bool) -> fact.ForgeFacts | None:
    """Return where pull requests would be opened; None if there is no forge and none is `wanted`.

    Rule: gh's login is checked offline, and its token is not read.
    """
    if shutil.which("git") is None:
        return None
    try:
        address = open_forge(open_repository(start), environ).address
    except (NotFound, GitFailed):
        return None
    except ForgeFailed as error:
        return fact.ForgeFacts(wanted=wanted, error=error_facts(error)) if wanted else None
    host = address.partition("/")[0]
    path = environ.get("PATH", os.defpath)
    program = shutil.which("gh", path=path)
    if program is None and not wanted:
        return None
    seen = fact.ForgeFacts(wanted=wanted, host=host, version=version_of(program, path) if program else None)
    try:
        Gh(host=host, environment=environ).require_login()
    except ForgeFailed as error:
        return structs.replace(seen, error=error_facts(error))
    return seen
