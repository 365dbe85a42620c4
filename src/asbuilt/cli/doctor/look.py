"""Ask every probe once. Its one rule: it looks, and changes nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from asbuilt.cli.doctor.facts import Facts, LooseFacts, Tried
from asbuilt.cli.doctor.forge import look_at_forge
from asbuilt.cli.doctor.gate import look_at_gate
from asbuilt.cli.doctor.machine import look_at_clock, look_at_power, look_at_sandbox, moment
from asbuilt.cli.doctor.programs import look_for_agents
from asbuilt.cli.doctor.reach import look_at_reach
from asbuilt.cli.doctor.repository import look_at_git, look_at_tests, trouble_of, try_tests
from asbuilt.cli.doctor.state import look_at_notices, look_at_store, look_at_worker
from asbuilt.journal.home import Home
from asbuilt.library.repository import find_repository
from asbuilt.settings import state_folder, survey
from asbuilt.settings.places import loose
from asbuilt.settings.running import command_in

if TYPE_CHECKING:
    from asbuilt.cli.options import Door
    from asbuilt.flows.checks.terms import Given


def look(door: Door, *, tests: Given | None = None) -> Facts:
    """Find the facts; with `tests`, what checks get beside a checkout, the tests are run too."""
    began = moment()
    repository = find_repository(door.start)
    settings, problems = survey(repository=repository.root if repository else None, environ=door.environ)
    home = Home(state_folder(door.environ))
    git = look_at_git(door.start, door.environ)
    sandbox = look_at_sandbox(required=settings.flag("sandbox.required"))
    suite = look_at_tests(settings)
    if tests is not None and git.has_commits:
        setup = command_in(settings, "checks.setup")
        suite = (
            try_tests(suite, door.start, setup=setup, hidden=home.path, given=tests)
            if sandbox.holds or not sandbox.required
            else replace(suite, tried=Tried(outcome="NOT_RUN", why="no sandbox holds them"))
        )
    agents = look_for_agents(door.environ)
    gate = look_at_gate(door.environ)
    uses_claude = any(agent.name == "claude" for agent in agents.found)
    return Facts(
        git=git,
        settings=tuple(trouble_of(problem) for problem in problems),
        agents=agents,
        sandbox=sandbox,
        reach=look_at_reach(door.environ, settings) if sandbox.level == "bwrap" else None,
        gate=gate if gate.installed or uses_claude else None,
        tests=suite,
        store=look_at_store(home, settings),
        worker=look_at_worker(home),
        power=look_at_power(inhibit=settings.flag("power.inhibit")),
        clock=look_at_clock(began),
        forge=look_at_forge(door.start, door.environ, wanted=settings.text("landing.mode") == "pr"),
        loose=LooseFacts(paths=tuple(map(str, paths))) if (paths := loose(door.environ)) else None,
        unheard=look_at_notices(home, settings),
    )
