"""Run checks on a clean checkout of a tree and keep what they show. Nobody else's word counts here."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from asbuilt.git.checkouts import clean_checkout
from asbuilt.git.commits import read_commit
from asbuilt.policy.shell import argv_of
from asbuilt.ports import Command
from asbuilt.proof.counts import Counts, from_output
from asbuilt.proof.evidence import Evidence, judge_check, judge_tests, overall

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from asbuilt.git.repository import Repository
    from asbuilt.journal.blobs import Blobs
    from asbuilt.ports import Ended, Processes

TESTS: Final = "tests"
_SHOWN: Final = 220


def tree_of(repository: Repository, commit: str) -> str:
    """Return the tree of a commit."""
    return read_commit(repository, commit).tree


class Proving:
    """Checks of one run, in one folder that is made to hold exactly the tree in question."""

    def __init__(self, repository: Repository, folder: Path, processes: Processes, blobs: Blobs) -> None:
        self._repository = repository
        self._folder = folder
        self._processes = processes
        self._blobs = blobs

    def baseline(self, tree: str, tests: str) -> tuple[Evidence, Counts | None]:
        """Run the tests on the base; failures there are noted, no test at all is a stop."""
        clean_checkout(self._repository, tree, self._folder)
        ended = self._run(tests)
        counts = from_output(ended.output.decode("utf-8", "replace"))
        judged = judge_tests(ended.exit_code, counts, truncated=ended.truncated, baseline=counts)
        return self._evidence(TESTS, tests, ended, tree, judged._asdict(), counts), counts

    def prove(
        self, tree: str, *, tests: str | None, baseline: Counts | None, checks: Sequence[str]
    ) -> list[Evidence]:
        """Run the tests and a phase's own checks on a clean checkout of a tree."""
        shown: list[Evidence] = []
        if tests is not None:
            clean_checkout(self._repository, tree, self._folder)
            ended = self._run(tests)
            counts = from_output(ended.output.decode("utf-8", "replace"))
            judged = judge_tests(ended.exit_code, counts, truncated=ended.truncated, baseline=baseline)
            shown.append(self._evidence(TESTS, tests, ended, tree, judged._asdict(), counts))
        for check in checks:
            # Each check starts from the tree, not from what the one before left behind.
            clean_checkout(self._repository, tree, self._folder)
            ended = self._run(check)
            shown.append(
                self._evidence(check, check, ended, tree, judge_check(ended.exit_code)._asdict(), None)
            )
        return shown

    def keep(self, shown: Sequence[Evidence]) -> str:
        """Keep evidence as a blob and return its digest."""
        return self._blobs.put(json.dumps([one._asdict() for one in shown]).encode())

    def _run(self, text: str) -> Ended:
        return self._processes.run(Command(argv=argv_of(text), cwd=self._folder, writable=(self._folder,)))

    def _evidence(
        self, name: str, text: str, ended: Ended, tree: str, judged: dict[str, Any], counts: Counts | None
    ) -> Evidence:
        return Evidence(
            name=name,
            argv=argv_of(text),
            exit_code=ended.exit_code,
            outcome=judged["outcome"],
            why=judged["why"],
            ran=counts.ran if counts else None,
            skipped=counts.skipped if counts else None,
            failed=counts.failed if counts else None,
            output=self._blobs.put(ended.output),
            duration_s=ended.duration_s,
            tree=tree,
            new_failures=judged["new"],
            old_failures=judged["old"],
        )


def failures_of(shown: Sequence[Evidence]) -> list[str]:
    """Word what was not shown, short enough for an event; the evidence itself is a blob."""
    return [
        f"{one.name[:_SHOWN]}: {one.outcome}, {one.why}"[: 2 * _SHOWN]
        for one in shown
        if one.outcome != "PASS"
    ][:4]


def outcome_of(shown: Sequence[Evidence]) -> str:
    """Judge all of it; where nothing was ordered, nothing had to be shown."""
    return overall(one.outcome for one in shown) if shown else "PASS"
