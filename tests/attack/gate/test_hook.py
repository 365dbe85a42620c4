"""No input and no fault opens the gate while planning is held. `just gate-hook` has the long form."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from asbuilt.session.conversation import folder_of
from tests.attack.gate import hooked, spawned
from tests.attack.gate.hooked import BLOCK, Talk, is_closed
from tests.attack.gate.spawned import HUGE, Said, by_shell, called, gate_argv
from tests.attack.gate.stage import build
from tests.faults.disks import disk_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.faults.disks import Disk

pytestmark = pytest.mark.crash
WITHOUT_RIGHTS = () if os.geteuid() else ("setpriv", "--bounding-set", "-all")
"""Root reads everything; with this it reads what its files' rights say."""


@pytest.fixture
def talk(tmp_path: Path) -> Talk:
    talk = Talk(build(tmp_path.resolve() / "stage"))
    talk.hold()
    return talk


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    made = disk_at(tmp_path / "disk")
    yield made
    made.close()


def _write(talk: Talk, mode: str = "acceptEdits", tool: str = "Write") -> bytes:
    given = {"file_path": f"{talk.stage.repository}/new.py", "content": "x"}
    fields = {
        "permission_mode": mode,
        "tool_name": tool,
        "tool_input": given,
        "cwd": str(talk.stage.repository),
    }
    return json.dumps({**fields, "hook_event_name": "PreToolUse", "transcript_path": "/none"}).encode()


def _is_denied(talk: Talk, said: Said, data: bytes = b"") -> bool:
    """Tell a deny or a block from anything that lets a call through."""
    return (said.code == BLOCK or '"deny"' in said.out) and is_closed(talk, data, said.code, said.out)


# That what judges here can see an open gate.


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (0, ""),
        (1, ""),
        (2, "{}"),
        (0, "{"),
        (0, "null"),
        (0, '{"hookSpecificOutput":{"permissionDecision":"allow","permissionDecisionReason":"asbuilt: "}}'),
        (0, '{"hookSpecificOutput":{"permissionDecision":"deny"}}'),
        (-9, ""),
    ],
)
def test_an_open_gate_is_seen(talk: Talk, code: int, said: str) -> None:
    assert not is_closed(talk, _write(talk), code, said)


# Inputs.


def test_a_slice_of_inputs_in_process_opens_nothing(talk: Talk) -> None:
    assert hooked.opened(talk, 4000, 0) == []


def test_a_slice_of_inputs_to_the_process_opens_nothing(talk: Talk) -> None:
    assert spawned.opened(talk, 60, 1_000_000) == []


def test_a_huge_payload_is_denied(talk: Talk) -> None:
    data = _write(talk).replace(b'"x"', b'"%s"' % (b"x" * HUGE))
    assert _is_denied(talk, called(talk, data))
    assert _is_denied(talk, called(talk, b"[" * HUGE))


@pytest.mark.parametrize(
    "closed",
    [
        "<&-",
        ">&-",
        "<&- >&-",
        "<&- >&- 2>&-",
        "</dev/null",
        ">/dev/full",
        ">/dev/full 2>/dev/full",
        "<&- 2>&-",
    ],
)
def test_a_stream_that_is_none_opens_nothing(talk: Talk, closed: str) -> None:
    assert _is_denied(talk, by_shell(talk, closed, _write(talk)))


def test_a_payload_that_is_cut_anywhere_opens_nothing(talk: Talk) -> None:
    data = _write(talk)
    places = [len(data) * at // 12 for at in range(12)]
    assert [at for at in places if not _is_denied(talk, called(talk, data[:at]))] == []


# Faults.


@pytest.mark.parametrize("given", [b"", b'{"permission_mode":"acceptEdits","tool_name":'])
def test_a_payload_that_never_ends_is_ended_by_the_hooks_own_alarm(talk: Talk, given: bytes) -> None:
    here = talk.stage.repository
    with subprocess.Popen(
        gate_argv(), env=talk.environ, cwd=here, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(given)
        process.stdin.flush()
        code = process.wait(spawned.LIMIT_S)
        assert _is_denied(talk, Said(code, process.stdout.read().decode()))


@pytest.mark.parametrize("tool", ["Write", "ExitPlanMode", "Bash"])
@pytest.mark.parametrize("mode", ["plan", "acceptEdits"])
def test_a_full_disk_opens_nothing(talk: Talk, disk: Disk, tool: str, mode: str) -> None:
    home = str(disk.path / "home")
    shutil.copytree(Path(talk.folder).parents[1], home)
    disk.fill()
    data = _write(talk, mode, tool)
    said = called(talk, data, ASBUILT_HOME=home)
    assert is_closed(talk, data, said.code, said.out)
    assert tool == "ExitPlanMode" or _is_denied(talk, said)


def test_a_hold_that_no_disk_can_take_denies_what_would_have_begun_it(talk: Talk, disk: Disk) -> None:
    disk.fill()
    assert _is_denied(talk, called(talk, _write(talk, "plan"), ASBUILT_HOME=str(disk.path / "home")))


def test_a_limit_on_files_opens_nothing(talk: Talk) -> None:
    for mode in ("plan", "acceptEdits"):
        limited = called(talk, _write(talk, mode), before=("prlimit", "--fsize=0"))
        assert _is_denied(talk, limited)


@pytest.mark.parametrize("limit", ["--nofile=6", "--stack=262144", "--nproc=1"])
def test_a_process_with_little_to_work_with_opens_nothing(talk: Talk, limit: str) -> None:
    assert _is_denied(talk, called(talk, _write(talk), before=("prlimit", limit)))


def _as_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _as_loop(path: Path) -> None:
    path.unlink()
    path.symlink_to(path)


def _as_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _as_link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


@pytest.mark.parametrize("spoil", [_as_folder, _as_loop, _as_pipe, _as_link])
@pytest.mark.parametrize("mode", ["plan", "acceptEdits"])
def test_a_hold_that_is_no_file_still_holds(talk: Talk, spoil: object, mode: str) -> None:
    assert callable(spoil)
    spoil(Path(talk.folder, "hold"))
    assert _is_denied(talk, called(talk, _write(talk, mode)))


@pytest.mark.parametrize("size", [0, 1, 20, -1])
def test_a_hold_that_is_cut_still_holds(talk: Talk, size: int) -> None:
    hold = Path(talk.folder, "hold")
    hold.write_bytes(hold.read_bytes()[:size])
    assert _is_denied(talk, called(talk, _write(talk)))


@pytest.mark.parametrize("which", ["hold", "", ".."])
def test_a_hold_that_may_not_be_read_still_holds(talk: Talk, which: str) -> None:
    aim = Path(talk.folder, which)
    rights = aim.stat().st_mode
    aim.chmod(0)
    try:
        said = called(talk, _write(talk), before=WITHOUT_RIGHTS)
    finally:
        aim.chmod(rights)
    assert _is_denied(talk, said)


def test_a_folder_that_leads_in_a_circle_still_holds(talk: Talk) -> None:
    folder = Path(folder_of(talk.environ, Path(talk.folder).name))
    shutil.rmtree(folder)
    folder.symlink_to(folder)
    assert _is_denied(talk, called(talk, _write(talk)))
