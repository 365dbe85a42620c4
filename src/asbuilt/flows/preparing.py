"""Get ready to prove: how the project is tested, its setup, and what its tests show before any work.

The one rule: all three are found out once, on the run's base, before an agent's code is there.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from asbuilt.errors import GateStopped
from asbuilt.git.trees import names_in, text_of
from asbuilt.journal import approvals
from asbuilt.proof.resolving import (
    LOOKED_INTO,
    READ,
    Project,
    proposal,
    resolve,
    resolve_setup,
    written,
)

if TYPE_CHECKING:
    from asbuilt.flows.proving import Proving
    from asbuilt.flows.record import Record
    from asbuilt.git.repository import Repository
    from asbuilt.journal.runs import Run
    from asbuilt.lifecycle.facts import RunFacts

_MAX_COMMAND: Final = 1_000


def resolve_tests(record: Record, repository: Repository, tree: str) -> None:
    """Write down how the project is tested, and whether a person has agreed to it before."""
    run = record.run
    resolved = resolve(_given(run, "tests"), project_of(repository, tree))
    key = proposal(resolved)
    with record.store.read() as session:
        said = key and approvals.last_answered(session, run.org, run.repo, under=f"{key}/")
    agreed = said.name if said and said.answer == "yes" else None
    record.prepare("tests.resolved", "tests", **written(resolved), agreed=agreed)


def set_up(record: Record, repository: Repository, proving: Proving, tree: str) -> None:
    """Make what checks shall find, or find it made."""
    setup = resolve_setup(_given(record.run, "setup"), project_of(repository, tree))
    shown = proving.set_up(setup)
    why = "no setup is set" if setup.command is None else "it stands from before"
    record.prepare(
        "setup.done",
        "setup",
        command=setup.command,
        digest=setup.digest,
        outcome="PASS" if shown is None else shown.outcome,
        why=why if shown is None else shown.why,
        output=None if shown is None else shown.output,
        **({} if shown is None else {"evidence": proving.keep([shown])}),
    )


def run_baseline(record: Record, proving: Proving, facts: RunFacts) -> None:
    """Run the tests on the base; a landing or an undo is judged by the base on which the work was proven."""
    tests = record.tests()
    if tests is None:
        why = "skipping test gate: there are no tests; when the plan adds some, set checks.tests"
        record.prepare("baseline.done", "baseline", outcome="PASS", why=why)
        return
    if facts.kind == "verify":
        # What is verified is the base itself: no failure there is an old one.
        record.prepare("baseline.done", "baseline", outcome="PASS", why="every failure counts")
        return
    if facts.kind != "run":
        proven_by = facts.unlanded[-1].run if facts.kind == "land" else facts.of
        counts = record.prepared("baseline", run=proven_by).get("counts")
        why = f"as of run {proven_by}"
        record.prepare("baseline.done", "baseline", outcome="PASS", why=why, counts=counts)
        return
    shown, counted = proving.baseline(tests)
    outcome = shown.outcome
    if outcome == "FAIL":
        # Failures of the base are noted and do not block; only not knowing them does.
        outcome = "INDETERMINATE" if counted is None else "PASS"
    record.prepare(
        "baseline.done",
        "baseline",
        outcome=outcome,
        why=shown.why,
        ran=shown.ran,
        failed=shown.failed,
        counts=None if counted is None else record.blobs.put(json.dumps(counted).encode()),
        evidence=proving.keep([shown]),
    )


def project_of(repository: Repository, tree: str) -> Project:
    """Look at what tells how a project is tested and set up."""
    names = names_in(repository, tree, below=LOOKED_INTO)
    return Project(names, {name: text_of(repository, names[name]) for name in READ if name in names})


def _given(run: Run, name: str) -> str | None:
    """Return the command that the run was started with; None when nobody has said anything."""
    command: str | None = run.options.get(name)
    if command is not None and len(json.dumps(command)) > _MAX_COMMAND:
        raise GateStopped(
            f"the command for {name} has more than {_MAX_COMMAND} bytes",
            why="It is written down with everything that it proves.",
            next_step="Put it into a script of the repository, and set the command that runs the script.",
        )
    return command
