"""Write the `look` script of a conversation, then exec it.

Started as `python -m asbuilt.hook.look_starter SCRIPT [COMMAND]`.

Rule: no command runs outside a sandbox unless the user's settings say `sandbox.required = false`.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from asbuilt.agents.sandbox.launch import below, found_bubblewrap, probe, settle, without_mounts
from asbuilt.agents.sandbox.masks import cleaned
from asbuilt.agents.sandbox.toolchains import shown_for
from asbuilt.errors import AsbuiltError
from asbuilt.git.repository import open_repository
from asbuilt.policy.plan_mode.state import HoldUnreadable
from asbuilt.policy.sandbox.look_script import FILTER, by_argv, by_bubblewrap, git_environment
from asbuilt.policy.sandbox.rules import Level, for_planning, secrets
from asbuilt.policy.sandbox.seccomp import MACHINES, seccomp_filter
from asbuilt.policy.sandbox.variables import passed
from asbuilt.session.conversation import hold_in
from asbuilt.session.look_command import place
from asbuilt.settings.layers import load

NOT_RUN: Final = 125
_NO_SANDBOX: Final = """\
asbuilt: the sandbox is unavailable on this machine, so this was not run: {command}
For the reason, the user runs: asbuilt doctor
"""


def made(root: str, environ: Mapping[str, str], level: Level, folder: str) -> str | None:
    """Return the script of a conversation in `root`; None: a sandbox is required and there is none."""
    home = environ.get("HOME", "/")
    shown = _repository_around(root)
    environment = {**passed(environ), **git_environment(shown[0])}
    readable = (*shown, *shown_for(environment, (Path(home),)))
    request = settle(for_planning(cwd=root, readable=readable, environment=environment), homes=[Path(home)])
    bash = shutil.which("bash", path="/bin:/usr/bin:/usr/local/bin")
    shell = (bash, "--noprofile", "--norc") if bash else ("/bin/sh",)
    if level == "bwrap":
        # Hidden files may appear and vanish while the conversation lasts.
        folders, files = (below(group, request.readable) for group in secrets(os.path.realpath(home)))
        request = request.changed(
            hidden=tuple(dict.fromkeys((*request.hidden, *folders))),
            hidden_files=tuple(dict.fromkeys((*request.hidden_files, *files))),
            placed=cleaned((f"{shown[0]}/.git", *shown[1:]), Path(folder)),
        )
        filtered = platform.machine() in MACHINES
        return by_bubblewrap(request, shell, program=found_bubblewrap() or "bwrap", filtered=filtered)
    if level == "none" and load(repository=None, environ=environ).flag("sandbox.required"):
        return None
    return by_argv(level, request, without_mounts(level, request, ()), shell)


def _repository_around(root: str) -> tuple[str, ...]:
    """Return the checkout around a folder, its git dir and its common dir; each may be in a hidden folder."""
    try:
        found = open_repository(Path(root))
    except AsbuiltError:
        return (root,)
    return str(found.root), str(found.git_dir), str(found.common)


def main(arguments: list[str]) -> int:
    """Write the script, then exec it; without a command, only write it."""
    script, *command = arguments
    folder = os.path.dirname(script)
    try:
        hold = hold_in(folder)
        text = made(hold.root if hold and hold.root else os.getcwd(), os.environ, probe().level, folder)
    except (AsbuiltError, HoldUnreadable, OSError) as error:
        sys.stderr.write(f"asbuilt: {error}\n")
        return NOT_RUN
    if text is None:
        sys.stderr.write(_NO_SANDBOX.format(command=" ".join(command) or "nothing"))
        return NOT_RUN
    Path(folder, FILTER).write_bytes(seccomp_filter())
    place(folder, text)
    if command:
        os.execv(script, [script, *command])  # noqa: S606  to become it is what this is for
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
