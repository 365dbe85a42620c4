from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from asbuilt.flows.engine.worker import clear

if TYPE_CHECKING:
    import pytest


def test_a_new_worker_clears_what_a_killed_one_left_and_works_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", None)
    scratch = tmp_path / "scratch"
    clear(scratch)
    (scratch / "asbuilt-git-left").mkdir()
    (scratch / "asbuilt-git-left" / "index").touch()
    clear(scratch)
    assert list(scratch.iterdir()) == []
    with tempfile.TemporaryDirectory() as made:
        assert Path(made).parent == scratch
