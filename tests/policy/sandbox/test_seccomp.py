"""The filter of system calls: each refused call, made by a real process in a real sandbox."""

from __future__ import annotations

import json
import platform
import sys

import pytest

from asbuilt.agents.sandbox.launch import launch, probe, settle
from asbuilt.policy.sandbox.rules import Request
from asbuilt.policy.sandbox.seccomp import FAMILIES, MACHINES, REFUSED

pytestmark = pytest.mark.skipif(
    probe().level != "bwrap" or platform.machine() not in MACHINES, reason="there is no filter here"
)
CALLS = """\
import ctypes, json, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
answers = {}
for name, number in json.loads(sys.argv[1]).items():
    ctypes.set_errno(0)
    answers[name] = ctypes.get_errno() if libc.syscall(number, 0, 0, 0, 0, 0, 0) == -1 else 0
families = {}
for family in range(0, 46):
    try:
        socket.socket(family, socket.SOCK_DGRAM if family == 16 else socket.SOCK_STREAM).close()
        families[family] = 0
    except OSError as error:
        families[family] = error.errno
print(json.dumps([answers, families]))
"""
EAFNOSUPPORT = 97


def test_each_refused_call_fails_with_its_error_and_nothing_is_killed() -> None:
    column = 0 if platform.machine() == "x86_64" else 1
    numbers = json.dumps({name: row[column] for name, row in REFUSED.items()})
    argv = (sys.executable, "-I", "-S", "-c", CALLS, numbers)
    with launch("bwrap", settle(Request(chdir="/"), homes=()), argv) as process:
        output, _ = process.communicate(timeout=30)
    assert process.returncode == 0, output
    answers, families = json.loads(output)
    assert answers == {name: row[2] for name, row in REFUSED.items()}
    opened = {int(family) for family, error in families.items() if error != EAFNOSUPPORT}
    assert opened == set(FAMILIES.values())
