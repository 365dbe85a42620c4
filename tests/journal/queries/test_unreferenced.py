from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from asbuilt.events.attempts import ChecksDone
from asbuilt.journal.blobs import Blobs
from asbuilt.journal.events import append, open_plan
from asbuilt.journal.queries.unreferenced import unnamed
from tests.journal.conftest import PLAN

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.journal.database.store import Store


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(tmp_path / "blobs")


def test_only_what_no_event_leads_to_is_unnamed(store: Store, blobs: Blobs) -> None:
    output = blobs.put(b"the output of a check")
    evidence = blobs.put(f'[{{"output": "{output}"}}]'.encode())
    alone = blobs.put(b"written before a crash")
    with store.write() as session:
        open_plan(session, PLAN, "rate-limit")
        checked = ChecksDone(phase="1", number=1, outcome="PASS", evidence=evidence)
        append(session, PLAN, checked, key="k", actor="asbuilt")
    with store.read() as session:
        found = [f"sha256:{file.name}" for file in unnamed(session, blobs)]
    assert found == [alone]


def test_content_that_is_wanted_again_is_as_good_as_new(blobs: Blobs) -> None:
    digest = blobs.put(b"old")
    (file,) = blobs.files()
    os.utime(file, (1, 1))
    assert blobs.put(b"old") == digest
    assert file.stat().st_mtime > 1


def test_content_that_was_let_go_can_be_written_again(blobs: Blobs) -> None:
    digest = blobs.put(b"old")
    (file,) = blobs.files()
    assert blobs.let_go(file)
    assert (blobs.files(), blobs.torn()) == ([], [])
    assert blobs.put(b"old") == digest
    assert blobs.get(digest) == b"old"
