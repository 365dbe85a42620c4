"""Assign agents to roles, from the settings and the programs installed on this machine.

Rule: only installed agents are assigned. By default the verifier differs from the implementer if a second
kind of agent is installed.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, get_args

from msgspec.structs import replace

from asbuilt.errors import GateStopped, NotFound, SettingInvalid
from asbuilt.events.options import AgentProgram, TeamMember
from asbuilt.policy.agent_kinds import KINDS, Kind, is_below, rung_of
from asbuilt.policy.roles import Role
from asbuilt.similar_names import did_you_mean, nearest

if TYPE_CHECKING:
    from asbuilt.settings import Settings

SCRIPTED: Final = "scripted"
_FIRST: Final = "claude"
"""The default when several agents are installed and none is set."""


class Agent(NamedTuple):
    """An agent's name in the settings, and its program."""

    name: str
    program: AgentProgram


class Roster(NamedTuple):
    """The agents of this user on this machine."""

    defined: Mapping[str, Mapping[str, Any]]
    """`[agents.NAME]` of the settings."""
    found: Mapping[str, str]
    """Kinds whose program is on the PATH, with its path; the default comes first."""
    kinds: Mapping[str, Kind]
    lacking: tuple[Kind, ...] = ()
    """Kinds whose own program is on the PATH, but not the adapter that asbuilt needs."""

    def agent(self, name: str) -> Agent:
        """Return an agent by name; raises `NotFound`, which lists the installed agents."""
        chosen, kind = self.defined.get(name, {}), self.kind_of(name)
        program = AgentProgram(
            kind=kind,
            command=self._command(name, kind, str(chosen.get("command", ""))),
            model=str(chosen.get("model", "")),
            effort=str(chosen.get("effort", "")),
            max_turns=int(chosen.get("max_turns", 0)) or None,
            budget_usd=float(chosen.get("budget_usd", 0.0)) or None,
        )
        return Agent(name, program)

    def kind_of(self, name: str) -> str:
        """Return the kind of an agent; raises `NotFound` for a name that is no kind and not defined."""
        kind = str(self.defined.get(name, {}).get("kind") or name)
        if kind not in self.kinds:
            known = [*self.defined, *self.kinds]
            raise NotFound(
                f'no agent of kind "{kind}"{did_you_mean(kind, known)}',
                why=f"asbuilt drives {', '.join(self.kinds)}, or an agent that you defined under"
                " `[agents.NAME]`.",
                next_step="`asbuilt doctor agents` lists the installed agents.",
                typed=name,
                meant=nearest(kind, known),
            )
        return kind

    def _command(self, name: str, kind: str, chosen: str) -> tuple[str, ...]:
        if not self.kinds[kind].program:
            return ()
        words = _words(chosen) if chosen else [self.found.get(kind, "")]
        if words and Path(words[0]).is_absolute():
            return tuple(words)
        program = words[0] if words and words[0] else self.kinds[kind].program
        if self.kinds[kind] in self.lacking and not chosen:
            raise _without_adapter(self.kinds[kind])
        there = ", ".join(f"--agent {agent}" for agent in self.found)
        raise NotFound(
            f'agent {name} is not installed: no program "{program}" on PATH',
            why="asbuilt uses the agent programs that you installed; it includes none.",
            next_step="`asbuilt doctor agents` lists what is installed"
            + (f"; or: {there}." if there else "."),
        )


def roster(settings: Settings, environ: Mapping[str, str], kinds: Mapping[str, Kind] = KINDS) -> Roster:
    """Find the defined and installed agents."""
    path = environ.get("PATH", os.defpath)
    places = {kind.name: shutil.which(kind.program, path=path) for kind in kinds.values() if kind.program}
    found = {name: place for name, place in places.items() if place and Path(place).is_absolute()}
    first = {name: found[name] for name in (_FIRST,) if name in found}
    defined = {
        name: {**chosen, "command": _placed(str(chosen.get("command", "")), path)}
        for name, chosen in settings.named("agents").items()
    }
    return Roster(defined, {**first, **found}, kinds, lacking(kinds, path))


def lacking(kinds: Mapping[str, Kind], path: str) -> tuple[Kind, ...]:
    """Return the kinds of which only the adapter is missing."""
    return tuple(
        kind
        for kind in kinds.values()
        if kind.own and shutil.which(kind.own, path=path) and not shutil.which(kind.program, path=path)
    )


def _without_adapter(kind: Kind) -> NotFound:
    return NotFound(
        f"{kind.own} is installed, and {kind.program} is not",
        why=f"asbuilt drives {kind.own} through the adapter {kind.program}.",
        next_step=f"`{kind.install}`, then run again.",
    )


def _placed(command: str, path: str) -> str:
    """Resolve a command's program on the current PATH: a worker may have another PATH."""
    words = _words(command)
    place = shutil.which(words[0], path=path) if words else None
    return shlex.join([place, *words[1:]]) if place else command


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:
        raise SettingInvalid(
            f"the command of an agent cannot be read: {command}: {error}",
            why="The command would start a different program.",
            next_step="`asbuilt config show --origin` shows who sets it; close its quotes there.",
        ) from error


def assigned(there: Roster, settings: Settings, wanted: str | None = None) -> dict[Role, Agent]:
    """Assign an agent to every role; `wanted` is the implementer from the command line."""
    works = wanted or settings.text("roles.implement") or settings.text("agents.implement")
    if not works and not there.found and there.lacking:
        raise _without_adapter(there.lacking[0])
    if not works and not there.found:
        programs = ", ".join(kind.program for kind in there.kinds.values() if kind.program)
        raise NotFound(
            "no agent is installed here",
            why=f"asbuilt uses the agent programs that you installed; PATH has none of {programs}.",
            next_step="Install one and sign in, then: `asbuilt doctor agents`; `asbuilt demo` needs none.",
        )
    implement = there.agent(works or next(iter(there.found)))
    if implement.program.kind == SCRIPTED:
        # A script plays every role; a real verifier would cost money.
        return dict.fromkeys(get_args(Role), implement)
    fix, verify, test, plan, critique = (
        settings.text(f"roles.{role}") for role in ("fix", "verify", "test", "plan", "critique")
    )
    others = [
        kind for kind in there.found if kind.partition("-")[0] != implement.program.kind.partition("-")[0]
    ]
    team: dict[Role, Agent] = {
        "implement": implement,
        "fix": there.agent(fix) if fix else implement,
        "verify": there.agent(verify or others[0]) if verify or others else implement,
        "test": there.agent(test or verify or others[0]) if test or verify or others else implement,
        "plan": there.agent(plan) if plan and not wanted else implement,
        "critique": there.agent(critique or others[0]) if critique or others else implement,
    }
    _check_floor(team, settings.text("agents.min_model"))
    return team


def with_model(team: Mapping[Role, Agent], settings: Settings, model: str) -> dict[Role, Agent]:
    """Change the model of the planner, in every role that the same agent has."""
    plans = team["plan"]
    chosen = plans._replace(program=replace(plans.program, model=model))
    after = {role: chosen if agent == plans else agent for role, agent in team.items()}
    _check_floor(after, settings.text("agents.min_model"))
    return after


def _check_floor(team: Mapping[Role, Agent], floor: str) -> None:
    if floor and rung_of(floor) is None:
        raise SettingInvalid(
            f'agents.min_model "{floor}" is not a model whose size is known',
            why="No model can be compared with it.",
            next_step="`asbuilt config set agents.min_model opus`, or haiku, sonnet, mini, flash or pro.",
        )
    for role, agent in team.items():
        if is_below(agent.program.model, floor):
            model = agent.program.model or "its own choice of model"
            raise GateStopped(
                f"{agent.name} would {role} with {model}, and agents.min_model is {floor}",
                why="Weaker models, and models of unknown size, get no work.",
                next_step=f"`asbuilt config set agents.{agent.name}.model MODEL`, or lower agents.min_model.",
            )


def frozen(team: Mapping[Role, Agent]) -> dict[str, TeamMember]:
    """Return the team for a run's options; contains names of variables, never their values."""
    return {role: TeamMember(name=agent.name, program=agent.program) for role, agent in team.items()}
