"""What `asbuilt init` finds here: settings, agents, tests and the sandbox, and the next step. Read-only."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, NamedTuple

from asbuilt.cli.commands.doctor.machine import look_at_sandbox
from asbuilt.cli.commands.doctor.rows import SANDBOXES
from asbuilt.cli.commands.init.seats import TOOLS, seat_of
from asbuilt.cli.ui.messages import answer, headline
from asbuilt.cli.ui.words import counted, listed
from asbuilt.errors import GitFailed, NotFound
from asbuilt.flows.checks.project import project_of
from asbuilt.flows.checks.prove import tree_of
from asbuilt.git.repository import open_repository, resolve
from asbuilt.library.repository import branch_of, find_repository
from asbuilt.policy.kinds import KINDS
from asbuilt.proof.candidates import ways
from asbuilt.settings import Layer, survey

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.cli.commands.doctor.facts import SandboxFacts
    from asbuilt.cli.shell.options import Door


class Found(NamedTuple):
    """What a run would use here."""

    place: tuple[str, str]
    """The repository's name, and its branch in words."""
    is_repository: bool
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
    branch = branch_of(repository) if repository else None
    place = (repository.name, f"on {branch}" if branch else "no branch checked out") if repository else None
    path = door.environ.get("PATH", os.defpath)
    own = [one.origin.where for one in settings.chosen.values() if one.origin.layer is Layer.REPOSITORY]
    suites = "checks.suites" if settings.chosen["checks.suites"].value else ""
    return Found(
        place=place or ("asbuilt", "not in a Git repository"),
        is_repository=repository is not None,
        settings=tuple(own),
        agents=tuple(
            one.name for one in KINDS.values() if one.program and shutil.which(one.program, path=path)
        ),
        tests=settings.text("checks.tests") or suites,
        ways=_ways(repository.root) if repository else (),
        sandbox=look_at_sandbox(required=settings.flag("sandbox.required")),
    )


def _ways(root: Path) -> tuple[str, ...]:
    try:
        repository = open_repository(root)
        commit = resolve(repository, "HEAD")
        found = ways(project_of(repository, tree_of(repository, commit))) if commit else ()
    except (GitFailed, NotFound):
        return ()
    return tuple(one.shown for one in found)


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


def next_step(door: Door, found: Found) -> str:
    """Return the one command to type next, which works here."""
    if found.sandbox.required and not found.sandbox.holds:
        return "asbuilt doctor --fix sandbox"
    if not found.is_repository or not found.agents:
        return "asbuilt demo"
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
