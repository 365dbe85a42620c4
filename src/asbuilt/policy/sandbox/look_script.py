"""Write the script that runs one command of a conversation in the read-only sandbox. Pure.

Rule: the command is `$1` and stays one word; everything else in the script is quoted here.
"""

from __future__ import annotations

from asbuilt.policy.sandbox.rules import environment_in, mounts, walls
from asbuilt.policy.shell.quote_word import quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from asbuilt.policy.sandbox.rules import Level, Request

# Git settings that could start a program, write or reach the network; the repository cannot undo these.
_GIT = (
    ("core.alternateRefsCommand", "true"),
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.sshCommand", "false"),
    ("core.untrackedCache", "false"),
    ("diff.autoRefreshIndex", "false"),
    ("log.showSignature", "false"),
    ("protocol.allow", "never"),
    ("safe.bareRepository", "explicit"),
)
_BEFORE = """\
#!/bin/sh
# asbuilt: runs one command of this conversation in the read-only sandbox ({level}).
[ $# -eq 1 ] || exit 125
text=$1
here=$(pwd -P)
set -- {start}
"""
_AFTER = """\
exec /usr/bin/env -i {environment} "$@" {shell} -c "$text"{input}
"""
FILTER = "seccomp"
"""File beside the script with the seccomp filter."""
_FILTER_FD = 9
_FILTER_INPUT = f' {_FILTER_FD}<"${{0%/*}}/{FILTER}"'


def by_bubblewrap(request: Request, shell: Sequence[str], *, program: str, filtered: bool) -> str:
    """Write the script for bubblewrap. It tests each path at run time, because paths may come and go."""
    mounted = "".join(
        f'[ -e {quoted(mount[-1])} ] && set -- "$@" {_words(mount)}\n' for mount in mounts(request)
    )
    end = 'set -- "$@" --chdir "$here" --\n'
    start = walls(request, program=program, filter_fd=_FILTER_FD if filtered else None)
    return _script("bwrap", request, start, mounted + end, shell, _FILTER_INPUT if filtered else "")


def by_argv(level: Level, request: Request, argv: Sequence[str], shell: Sequence[str]) -> str:
    """Write the script for a program that restricts itself and then runs its arguments."""
    return _script(level, request, argv, "", shell)


def settings_environment(settings: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return git settings as `GIT_CONFIG_*` variables; unlike `-c`, they take any key."""
    numbered = {
        name: value
        for at, (key, setting) in enumerate(settings)
        for name, value in ((f"GIT_CONFIG_KEY_{at}", key), (f"GIT_CONFIG_VALUE_{at}", setting))
    }
    return {"GIT_CONFIG_COUNT": str(len(settings)), **numbered} if settings else {}


def git_environment(root: str) -> dict[str, str]:
    """Return the environment in which git only reads a repository."""
    return {
        **settings_environment((*_GIT, ("safe.directory", root))),
        # Under Landlock the system's file exists and cannot be read, and git exits.
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_PAGER": "cat",
        "GIT_TERMINAL_PROMPT": "0",
        "PAGER": "cat",
    }


def _script(
    level: Level, request: Request, start: Iterable[str], middle: str, shell: Iterable[str], more: str = ""
) -> str:
    environment = _words(f"{name}={value}" for name, value in environment_in(request).items())
    return (
        _BEFORE.format(level=level, start=_words(start))
        + middle
        + _AFTER.format(environment=environment, shell=_words(shell), input=more)
    )


def _words(words: Iterable[str]) -> str:
    return " ".join(map(quoted, words))
