"""Restrict this process with Landlock, then exec the command: `landlock.py RULES -- ARGV`.

Standard library only, run by its path.

Rule: if the kernel does not accept the rules, the command is not started.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import sys
from typing import Final

REFUSED: Final = 125
_CREATE, _ADD, _RESTRICT = 444, 445, 446
_PATH_BENEATH: Final = 1
_VERSION: Final = 1
_NO_NEW_PRIVILEGES: Final = 38
_SCOPES_SINCE: Final = 6
_NETWORK_SINCE: Final = 4


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def abi() -> int:
    """Return the kernel's Landlock ABI version; 0 when it has none or it is disabled."""
    if sys.platform != "linux":
        return 0
    return max(0, int(ctypes.CDLL(None, use_errno=True).syscall(_CREATE, None, 0, _VERSION)))


def restrict(files: int, network: int, scopes: int, paths: list[tuple[str, int]]) -> None:
    """Restrict this process and its descendants, irrevocably."""
    libc = ctypes.CDLL(None, use_errno=True)
    version = abi()
    size = 24 if version >= _SCOPES_SINCE else 16 if version >= _NETWORK_SINCE else 8
    ruleset = _checked(libc.syscall(_CREATE, ctypes.byref(_Ruleset(files, network, scopes)), size, 0))
    for path, allowed in paths:
        try:
            parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        rule = _Beneath(allowed if os.path.isdir(path) else allowed & ~_FOLDERS_ONLY, parent)  # noqa: PTH112
        _checked(libc.syscall(_ADD, ruleset, _PATH_BENEATH, ctypes.byref(rule), 0))
        os.close(parent)
    _checked(libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    _checked(libc.syscall(_RESTRICT, ruleset, 0))
    os.close(ruleset)


_FOLDERS_ONLY: Final = 1 << 3  # the kernel rejects READ_DIR on a file


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def main() -> int:
    """Read the rules, apply them, exec the command."""
    rules, argv = json.loads(sys.argv[1]), sys.argv[3:]
    try:
        restrict(**rules)
    except OSError as error:
        sys.stderr.write(f"landlock: {error.strerror}\n")
        return REFUSED
    try:
        os.execvp(argv[0], argv)  # noqa: S606  becoming the command is what this is for
    except OSError as error:
        sys.stderr.write(f"{argv[0]}: {error.strerror}\n")
        return 127 if error.errno == errno.ENOENT else 126


if __name__ == "__main__":
    sys.exit(main())
