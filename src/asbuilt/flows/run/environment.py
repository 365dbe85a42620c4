"""The part of the requester's environment that a run may see, in files only its user can read.

The system may have started the worker, with another PATH than the shell in which the tests passed. Rule: only
variables on the sandbox's list, or that the kind of a chosen agent needs, are kept. Agent credentials go only
to that agent; forge credentials go only to the forge client.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from asbuilt.events.options import RunOptions, Variables
from asbuilt.flows.environments.limits_and_variables import Given
from asbuilt.flows.run.briefs import opened_for_setup
from asbuilt.git.forge.gh import FORGE_VARIABLES
from asbuilt.policy.agent_kinds import KINDS
from asbuilt.policy.sandbox.services import chosen_services
from asbuilt.policy.sandbox.variables import passed
from asbuilt.settings import survey
from asbuilt.settings.granted_variables import given

_FILE: Final = "environment.json"
_AGENTS: Final = "agents.json"
_FORGE: Final = "forge.json"
_GIVEN: Final = "given.json"


def keep(
    room: Path, environ: Mapping[str, str], kinds: Iterable[str] = (), *, options: RunOptions | None = None
) -> None:
    """Keep the listed variables in the run's folder, and separately those of agents of these kinds.

    `options` are the run's: if it lands by pull request or names issues, forge variables are kept too, and if
    settings name variables of checks or of the setup, their values.
    """
    room.mkdir(parents=True, exist_ok=True, mode=0o700)
    names = {name for kind in kinds if kind in KINDS for name in KINDS[kind].variables}
    _write(room / _FILE, passed(environ))
    _write(room / _AGENTS, {name: environ[name] for name in sorted(names) if name in environ})
    if options is None:
        return
    if options.landing == "pr" or options.issues:
        keep_for_forge(room, environ)
    keep_given(room, environ, options)


def keep_own(room: Path, environ: Mapping[str, str], options: RunOptions) -> None:
    """Keep the worker's own environment for a run of the fleet: by names, since it has no settings of it."""
    kinds = {member.program.kind for member in options.agents.values()}
    keep(room, environ, kinds)
    keep_for_forge(room, environ)
    named = options.env or Variables()
    sections = {"checks": named.checks or (), "setup": named.setup or ()}
    values: dict[str, Any] = {
        section: {name: environ[name] for name in names if name in environ}
        for section, names in sections.items()
    }
    _write(room / _GIVEN, {**values, "home": environ.get("HOME", "")})


def keep_given(room: Path, environ: Mapping[str, str], options: RunOptions) -> None:
    """Keep the values that the user gives to checks and to the setup; no agent gets them."""
    if options.env is UNSET:
        return
    checkout = Path(options.checkout)
    values = given(survey(repository=checkout, environ=environ)[0], checkout, environ)
    room.mkdir(parents=True, exist_ok=True, mode=0o700)
    _write(room / _GIVEN, {**values, "home": environ.get("HOME", "")})


def given_in(room: Path, options: RunOptions) -> Given:
    """Return what checks and the setup of a run get beside the environment."""
    return given_by(options, _read(room / _GIVEN))


def given_by(options: RunOptions, values: Mapping[str, Any]) -> Given:
    """Return what the user gives, from a run's options and the values of variables."""
    found = opened_for_setup(options)
    home = Path(values["home"]) if values.get("home") else None
    return Given(
        services=chosen_services(options),
        checks=values.get("checks", {}),
        setup=values.get("setup", {}),
        home=home,
        credentials=options.credentials or (),
        opened=replace(found, readable=found.paths(home or Path.home())),
    )


def keep_for_forge(room: Path, environ: Mapping[str, str]) -> None:
    """Keep the forge variables in the run's folder, and nothing else."""
    room.mkdir(parents=True, exist_ok=True, mode=0o700)
    _write(room / _FORGE, {name: environ[name] for name in FORGE_VARIABLES if name in environ})


def hand_on(room: Path, other: Path) -> None:
    """Copy what was kept in one folder to another."""
    other.mkdir(parents=True, exist_ok=True, mode=0o700)
    for name in (_FILE, _AGENTS, _FORGE, _GIVEN):
        if name not in (_FORGE, _GIVEN) or (room / name).is_file():
            _write(other / name, _read(room / name))


def kept(room: Path) -> dict[str, str]:
    """Return the variables that checks may see; empty if the run kept none."""
    return passed(_read(room / _FILE))


def kept_for(room: Path, kind: str) -> dict[str, str]:
    """Return the variables that an agent of a kind may see: those of checks, and its own to sign in."""
    return kept(room) | signed_in_by(room, kind)


def signed_in_by(room: Path, kind: str) -> dict[str, str]:
    """Return the variables with which only an agent of a kind signs in."""
    own = KINDS[kind].variables if kind in KINDS else ()
    return {name: value for name, value in _read(room / _AGENTS).items() if name in own}


def kept_for_forge(room: Path) -> dict[str, str]:
    """Return the variables for gh and for a git that pushes; empty if the run does not use a forge."""
    return {name: value for name, value in _read(room / _FORGE).items() if name in FORGE_VARIABLES}


def _write(file: Path, values: Mapping[str, Any]) -> None:
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as opened:
        json.dump(values, opened)


def _read(file: Path) -> dict[str, Any]:
    try:
        values: dict[str, Any] = json.loads(file.read_text(encoding="ascii"))
    except FileNotFoundError:
        return {}
    return values
