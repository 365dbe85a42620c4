"""`asbuilt session [--plan] -- claude …`: start the user's own agent on the user's terminal.

Rule: with --plan, the agent starts only after the sandbox has refused a forbidden write. Without a sandbox
(sandbox.required is false) only the gate confines it.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from asbuilt.agents.host.agent_process import differing
from asbuilt.agents.host.permission_answers import Unheld
from asbuilt.agents.plan_session import PlanningSeat, can_share_a_terminal, run
from asbuilt.agents.sandbox.launch import probe
from asbuilt.cli.shell.options import Door
from asbuilt.cli.shell.plan_context import desk_for
from asbuilt.cli.ui.screen import printable
from asbuilt.errors import GateStopped, NotFound, SandboxUnavailable, UsageWrong
from asbuilt.flows.run.briefs import opened
from asbuilt.policy.plan_mode.state import Hold
from asbuilt.policy.sandbox.rules import Level
from asbuilt.session.bytecode import compile_hooks
from asbuilt.session.conversation import folder_of, keep_hold, key_of, state_home
from asbuilt.session.hook_command import ASKED, hook_argv
from asbuilt.session.look_command import NAME as LOOK
from asbuilt.session.look_command import offer, rule
from asbuilt.settings.files import correcting
from asbuilt.settings.running import chosen_for_runs
from asbuilt.settings.user_folders import home_of

_EXAMPLE: Final = "`asbuilt session --plan -- claude`"


def start(door: Door, agent: Sequence[str], *, plan: bool) -> int:
    """Start the agent, and return its exit code. Without --plan it replaces this process."""
    if not agent:
        raise UsageWrong("no agent is named", why="Put the agent's command after `--`.", next_step=_EXAMPLE)
    if plan:
        _insist_on_what_can_be_held(agent)
    program = shutil.which(agent[0], path=door.environ.get("PATH"))
    if program is None:
        raise NotFound(
            f"{agent[0]} is not installed, or not on your PATH",
            why="It is started as you would start it yourself.",
            next_step="`asbuilt doctor agents` lists agents that are installed; or write its path.",
        )
    # Without --plan the agent replaces this process, so the key is the one that its own hooks compute.
    key = key_of({"CLAUDE_PID": str(os.getpid())})
    known = {"ASBUILT_CONVERSATION": key, "ASBUILT_HOME": state_home(door.environ)}
    if not plan:
        os.execve(program, [program, *agent[1:]], {**door.environ, **known})  # noqa: S606  as the user asked
    return _plan(door, program, agent[1:], key, known)


def _insist_on_what_can_be_held(agent: Sequence[str]) -> None:
    if Path(agent[0]).name != "claude":
        raise UsageWrong(
            f"--plan starts claude, not {agent[0]}",
            why="asbuilt can sandbox no other agent at a terminal.",
            next_step=f"{_EXAMPLE}, or leave --plan out",
        )
    if any(word.partition("=")[0] == "--settings" for word in agent):
        raise UsageWrong(
            "--plan and --settings do not go together",
            why="asbuilt passes the gate in --settings, and a second one would replace it.",
            next_step=f"{_EXAMPLE}, with the settings in ~/.claude/settings.json",
        )


def _plan(door: Door, program: str, arguments: Sequence[str], key: str, known: Mapping[str, str]) -> int:
    desk = desk_for(door)
    level = _level(required=desk.settings.flag("sandbox.required"))
    repository = desk.library.repository
    root = repository.root if repository is not None else door.start
    plans = desk.library.folder or desk.library.user_folder
    plans.mkdir(parents=True, exist_ok=True)
    state = state_home(door.environ)
    folder = Path(folder_of(door.environ, key))
    seat = PlanningSeat(
        root=root,
        plans=plans,
        folder=folder,
        config=Path(state) / "planning" / "claude",
        home=home_of(door.environ),
        environ=door.environ,
        look=Path(state) / LOOK,
        opened=opened(chosen_for_runs(desk.settings)),
    )
    hold = Hold(by="session", since=time.time(), root=str(root), plans=(str(plans),))
    keep_hold(str(folder), hold)
    offer(state)
    compile_hooks()
    seat.furnish()
    refused: dict[str, None] = {}
    egress = seat.way_out(level, lambda host, why: refused.update({f"{host}: {why}": None}))
    request = seat.request(known, program, egress)
    try:
        if level != "none":
            seat.try_out(level, request)
    except Unheld as unheld:
        raise GateStopped(
            str(unheld),
            why="The sandbox has just allowed a write that it must refuse.",
            next_step="`asbuilt doctor` tests the sandbox and shows what is wrong.",
        ) from unheld
    argv = (program, *_planning(arguments, plans=os.path.relpath(plans, root), looks=rule(state)))
    before = seat.seals()
    code = run(level, request, argv, terminal=sys.stdin.isatty(), egress=egress)
    for option in refused:
        door.screen.talk(
            printable(f"The sandbox refused {option}. `asbuilt config set sandbox.hosts HOST` allows one.")
        )
    if changed := differing(before, seat.seals()):
        first = correcting(Path(seat.state.login) / changed[0])
        raise GateStopped(
            f"{', '.join(changed)} in {seat.state.login} changed while it planned",
            why="Claude Code reads it at its next start, outside the sandbox.",
            next_step=f"{first}; if you did not change it, restore it.",
        )
    return code


def _level(*, required: bool) -> Level:
    level = probe().for_work
    if level == "none" and required:
        causes = "; ".join(reason.what for reason in probe().reasons)
        raise SandboxUnavailable(
            f"the sandbox is unavailable on this machine: {causes}",
            why="Without it, the agent could write wherever you can.",
            next_step="`asbuilt doctor` shows a fix, or: `asbuilt config set sandbox.required false`",
        )
    if sys.stdin.isatty() and not can_share_a_terminal(level):
        raise SandboxUnavailable(
            "on this processor nothing keeps an agent from typing into your terminal",
            why="Your shell would run what the agent types, outside the sandbox.",
            next_step="`echo 'what to plan' | asbuilt session --plan -- claude -p`, without a terminal.",
        )
    return level


def _planning(arguments: Sequence[str], *, plans: str, looks: str) -> list[str]:
    """Return arguments that start Claude Code in plan mode, with the plans folder and the gate's hooks."""
    settings = {
        "hooks": {
            event: [{"hooks": [{"type": "command", "command": shlex.join(hook_argv(event)), "timeout": 30}]}]
            for event in ASKED
        },
        # In plan mode only this rule avoids a prompt, or the classifier, for commands that run in the
        # sandbox.
        "permissions": {"allow": [looks]},
        "plansDirectory": plans,
    }
    return ["--permission-mode", "plan", "--settings", json.dumps(settings), *arguments]
