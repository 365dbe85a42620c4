"""Programs that may run in plan mode, and the modules that hold their options.

Rule: a module is loaded only for a command with one of its programs, because a hook pays for each module.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from asbuilt.policy.shell.lexer import Word
    from asbuilt.policy.shell.place import Place

    Look = Callable[[str, Sequence[Word], Place], None]

# fmt: off
_MODULES = {
    "text": (
        "expr factor "
        "base32 base64 bat batcat bzcat cat cksum cmp column comm cut diff expand fmt fold hd head hexdump"
        " join md5sum nl od paste pr rev sha1sum sha224sum sha256sum sha384sum sha512sum b2sum shasum shuf"
        " sort strings sum tac tail tr tsort unexpand uniq wc xxd xzcat zcat zstdcat gzcat numfmt seq iconv"
        " md5"
    ),
    "listing": (
        "basename df dir dirname du fd fdfind file find ls namei pathchk readlink realpath stat tree vdir"
        " lsblk"
    ),
    "search": "ag egrep fgrep grep rg zgrep",
    "git": "git",
    "sed": "sed gsed",
    "awk": "awk gawk mawk nawk",
    "query": "jq yq",
    "archive": "tar unzip zipinfo gzip gunzip xz bzip2 zstd nm objdump readelf size",
    "builtin": (
        ": [ [[ cd command echo false mount nice printf pwd sleep test time timeout true type ulimit umask"
        " whereis which"
    ),
    "system": (
        "arch date free getconf groups hostname id locale logname lscpu nproc pgrep ps tty uname uptime"
        " users w who whoami cal sw_vers lsb_release dpkg vmstat lsmod bc"
    ),
    "version": (
        "bash bun cargo clang cmake deno docker g++ gcc go just ld lua make ninja"
        " node npm perl php python python3 ruby rustc swift tsc uv zsh gem ruff mypy"
        " rustup elixir ghc zig nim julia R Rscript psql sqlite3"
    ),
    "own": "asbuilt",
    "each": "xargs",
}
# fmt: on
_AT = {name: module for module, names in _MODULES.items() for name in names.split()}
_SYSTEM_FOLDERS = ("/usr/bin/", "/bin/")


def find(name: str) -> Look | None:
    """Return the function that judges a program's words; None: the program may not run."""
    for folder in _SYSTEM_FOLDERS:
        if name.startswith(folder):
            name = name[len(folder) :]
            break
    module = _AT.get(name)
    if module is None:
        return None
    # importlib alone costs more than the rest of the gate.
    loaded = __import__(f"{__name__}.{module}", fromlist=["look"])
    look: Look = loaded.look
    return lambda _, words, place: look(name, words, place)
