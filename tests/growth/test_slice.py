"""The slice of `just growth` that CI has time for, with room for a busy machine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.crash
def test_no_curve_bends_more_than_is_accepted() -> None:
    done = subprocess.run(
        [sys.executable, "scripts/growth.py", "--slice"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    bent = [line for line in done.stdout.splitlines() if line.startswith("bent: ")]
    assert (bent, done.returncode) == ([], 0), done.stdout + done.stderr
