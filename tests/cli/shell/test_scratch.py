from __future__ import annotations

import subprocess
import sys
import time
from typing import TYPE_CHECKING

from asbuilt.cli.shell.scratch import Scratch

if TYPE_CHECKING:
    from pathlib import Path

_WRITER = """
import sys, time
until = time.monotonic() + 1
number = 0
while time.monotonic() < until:
    number += 1
    try:
        open(f"{sys.argv[1]}/{number}", "w").close()
    except FileNotFoundError:
        pass
"""


def test_a_folder_in_which_a_process_still_writes_is_deleted(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    scratch = Scratch(folder, "shop", {})
    busy = scratch.state / "runs" / "r" / "attempts" / "r.1.1"
    busy.mkdir(parents=True)
    with subprocess.Popen([sys.executable, "-c", _WRITER, busy]) as writer:
        while not (busy / "1000").exists():
            assert writer.poll() is None
            time.sleep(0.001)
        scratch.delete()
    assert not folder.exists()
