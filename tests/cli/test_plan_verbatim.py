"""`plan show --phase ID --verbatim` gives the exact bytes of a section, whatever they are."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.plans import (
    put,
    run,
)

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_verbatim_gives_the_exact_bytes(shop: Path, environ: dict[str, str], bom: bytes, end: bytes) -> None:
    first = b"## Phase 1: \xff\xfe one" + end + b"\ttabs \xe2\x80\xa8 and \x00 stay  " + end + end
    last = b"## Phase 2: two" + end + b"no final newline"
    (shop / "plans").mkdir()
    (shop / "plans" / "odd.md").write_bytes(bom + b"# Odd" + end + end + first + last)
    assert run(shop, environ, "plan", "show", "odd", "--phase", "1", "--verbatim") == (0, first, b"")
    assert run(shop, environ, "plan", "show", "odd", "--phase", "2", "--verbatim") == (0, last, b"")


def test_into_a_pipe_that_is_closed_nothing_is_complained(shop: Path, environ: dict[str, str]) -> None:
    put(shop, large="# L\n\n## Phase 1: x\n\n" + "words " * 100_000 + "\n")
    with subprocess.Popen(
        [sys.executable, "-m", "asbuilt", "plan", "show", "large", "--phase", "1", "--verbatim"],
        cwd=shop,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        said = process.stderr.read()
    assert (process.returncode, said) == (0, b"")
