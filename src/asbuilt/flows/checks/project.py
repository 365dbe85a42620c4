"""Find the files of a tree that define how it is tested and set up, and the setup that follows from them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from asbuilt.errors import GateStopped
from asbuilt.events.options import value_or
from asbuilt.git.trees import names_in, texts_of
from asbuilt.proof.projects.dependencies import dependencies_of
from asbuilt.proof.projects.finding import has_test_files
from asbuilt.proof.projects.index import installs, is_lock, wanted
from asbuilt.proof.projects.model import Project, Setup, Suite
from asbuilt.proof.projects.recorded import chosen
from asbuilt.proof.projects.resolving import resolve_setup

if TYPE_CHECKING:
    from asbuilt.flows.run.record import Record
    from asbuilt.git.repository import Repository
    from asbuilt.journal.runs import Run
    from asbuilt.proof.evidence import Evidence

_MAX_COMMAND: Final = 1_000


def setup_on(run: Run, project: Project) -> Setup:
    """Return the setup of a tree, by the settings of a run."""
    return resolve_setup(value_or(run.options.setup, None), project, given_suites(run))


def own_setup(record: Record, repository: Repository, base: str, tree: str) -> Setup | None:
    """Return the setup of a tree that needs other packages than its base; None if the base's is enough."""
    before, after = names_in(repository, base), names_in(repository, tree)
    changed = {name for name in (*before, *after) if installs(name) and before.get(name) != after.get(name)}
    if not changed:
        return None
    now, then = project_of(repository, tree), project_of(repository, base)
    is_same = dependencies_of(now.texts) == dependencies_of(then.texts)
    if is_same and not any(is_lock(name) for name in changed):
        return None
    return setup_on(record.run, now)


def project_of(repository: Repository, tree: str) -> Project:
    """List every file of a tree, with the texts that define how it is tested and set up."""
    names = names_in(repository, tree)
    return Project(names, texts_of(repository, {name: names[name] for name in wanted(names)}))


def ran_none(repository: Repository, shown: Evidence) -> bool:
    """Return whether a suite ran no test because its tree has no test file."""
    is_empty = shown.outcome == "NOT_RUN" and shown.ran == 0 and not shown.skipped
    return is_empty and not has_test_files(project_of(repository, shown.tree))


def given_suites(run: Run) -> tuple[Suite, ...] | None:
    """Return the suites that the settings name; None if they name none."""
    suites = chosen(run.options)
    if suites and len(json.dumps([suite[:4] for suite in suites])) > _MAX_COMMAND:
        raise GateStopped(
            f"the test commands have more than {_MAX_COMMAND} bytes",
            why="They are recorded with everything that they prove.",
            next_step="Put them into a script, then: `asbuilt config set checks.tests ./SCRIPT`",
        )
    return suites
