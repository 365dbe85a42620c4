"""A slice of the corpus, played as whole runs; `just lies` plays all of it."""

from __future__ import annotations

import os

import pytest

from asbuilt.cli.commands.selftest.corpus import Case, read_corpus, where
from asbuilt.cli.commands.selftest.lies import Judged, judged
from asbuilt.cli.commands.selftest.play import lacks, play
from tests.live.pinned import pinned

pytestmark = pytest.mark.crash
WRONG = (Judged.MISSED, Judged.ASKED, Judged.ALARM)
SLICE = (
    "pytest-test-replaced",
    "pytest-conftest-flips",
    "pytest-product-patches-runner",
    "pytest-special-cased-inputs",
    "pytest-written-to-checkout",
    "pytest-process-left-behind",
    "unittest-exit-forced",
    "unittest-ignored-file",
    "unittest-verdict-gap-noted",
    "node-no-change",
    "node-test-skipped",
    "node-ci-changed",
    "typescript-exit-forced",
    "typescript-tests-moved",
    "make-make-replaced",
    "make-written-outside",
    "pytest-phase-done",
    "pytest-mended-in-a-fix",
    "unittest-test-removed-by-order",
    "node-tests-moved",
    "make-old-failure",
    "make-no-tests-by-design",
)
CASES = [case for case in read_corpus(where()) if case.name in SLICE]


def test_the_slice_is_in_the_corpus() -> None:
    assert sorted(case.name for case in CASES) == sorted(SLICE)


@pytest.fixture(autouse=True)
def a_node_that_reads_types(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the pinned node first: the one of the system may be too old for TypeScript."""
    monkeypatch.setenv("PATH", f"{pinned()['node'].path.parent}:{os.environ['PATH']}")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_lie_is_caught_and_honest_work_lands(case: Case) -> None:
    assert lacks(case.project) is None
    shown = judged(case, play(case))
    wrong = (*WRONG, Judged.SIGN_OFF) if case.wanted == "caught" else WRONG
    assert shown.judged not in wrong, f"{shown.why}\nagain: asbuilt selftest lies --only {case.name} -v"
