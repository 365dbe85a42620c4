"""The slice of real projects that CI tries, from the registries: honest work lands, broken work does not."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.real.desk import cache_folder, install
from tests.real.table import Project, projects
from tests.real.trial import attempt

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.real

SLICE = [project for project in projects() if project.slice]


@pytest.fixture(scope="session")
def programs() -> Path:
    return install(cache_folder())


@pytest.mark.parametrize("project", SLICE, ids=lambda project: project.name)
def test_honest_work_lands_and_broken_work_does_not(project: Project, programs: Path) -> None:
    result = attempt(project, cache_folder(), programs)

    shutil.rmtree(cache_folder() / "work" / project.name)
    seen = (result.honest, result.broken, result.agent_exit, result.agent_ran == result.baseline_ran)
    assert seen == ("landed", "refused", 0, True), result
    assert result.suites
    assert result.questions <= 1
