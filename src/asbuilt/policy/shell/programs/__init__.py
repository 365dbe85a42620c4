"""Programs that may run in plan mode: a table of options, and modules for what a table cannot say.

Rule: a module is loaded only for a command with one of its programs, because a hook pays for each module.
"""

from __future__ import annotations

from asbuilt.policy.shell.programs.options import rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from asbuilt.policy.shell.lexer import Word
    from asbuilt.policy.shell.working_folder import Place

    Judge = Callable[[str, Sequence[Word], Place], None]

# fmt: off
_MODULES = {
    "git": "git",
    "sed": "sed gsed",
    "find_xargs": "find xargs",
    "builtin": ": [ [[ cd command echo false nice printf pwd sleep test time timeout true type whereis which",
    "exact_forms": (
        "asbuilt bzip2 gunzip gzip mount ps tar ulimit umask unzip xxd xz zipinfo zstd"
        " bash bun cargo clang cmake deno docker g++ gcc go just ld lua make ninja"
        " node npm perl php python python3 ruby rustc swift tsc uv zsh gem ruff mypy"
        " rustup elixir ghc zig nim julia R Rscript psql sqlite3"
    ),
}
# fmt: on
_ROWS = rows()
NAMES = {name: module for module, names in _MODULES.items() for name in names.split()} | dict.fromkeys(
    _ROWS, "spec"
)
"""Every program that may run, and the module that judges it."""
_SYSTEM_FOLDERS = ("/usr/bin/", "/bin/")


def find(name: str) -> Judge | None:
    """Return the function that judges a program's words; None: the program may not run."""
    for folder in _SYSTEM_FOLDERS:
        if name.startswith(folder):
            name = name[len(folder) :]
            break
    if name not in NAMES:
        return None
    # importlib alone costs more than the rest of the gate.
    module = __import__(f"{__name__}.{NAMES[name]}", fromlist=["judge"])
    if name in _ROWS:
        return lambda _, words, place: module.judge_row(name, _ROWS[name], words, place)
    return lambda _, words, place: module.judge(name, words, place)
