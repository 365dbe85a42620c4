"""A project that setuptools would not build is prepared without it."""

from __future__ import annotations

import pytest

from asbuilt.proof.projects.resolving import resolve_setup
from tests.proof.projects.test_resolving import PIP, VENV
from tests.proof.projects.trees import of

FLAT = '[project]\ndependencies = ["flask>3"]\n[project.optional-dependencies]\ntest = ["pytest"]'
MODULES = {"shop.py": "", "test_shop.py": ""}
PACKAGES = {"shop/__init__.py": "", "plans/discount.md": "", "tests/test_a.py": ""}
SETUPTOOLS = '[build-system]\nbuild-backend = "setuptools.build_meta"\n'


@pytest.mark.parametrize(
    ("files", "installs"),
    [
        # setuptools refuses to choose among several top-level names, so the project is not installed.
        ({"pyproject.toml": FLAT, **MODULES}, "'flask>3' pytest"),
        ({"pyproject.toml": SETUPTOOLS + FLAT, **PACKAGES}, "'flask>3' pytest"),
        (
            {"pyproject.toml": FLAT, "shop.py": "", "tests/test_a.py": "", "docs/plans/a.md": ""},
            "-e '.[test]'",
        ),
        ({"pyproject.toml": FLAT, **MODULES, "src/shop.py": ""}, "-e '.[test]'"),
        ({"pyproject.toml": FLAT + '\n[tool.setuptools]\npackages = ["shop"]', **PACKAGES}, "-e '.[test]'"),
        (
            {"pyproject.toml": '[build-system]\nbuild-backend = "hatchling.build"\n' + FLAT, **PACKAGES},
            "-e '.[test]'",
        ),
        ({"pyproject.toml": FLAT, "setup.py": "", **MODULES}, "-e '.[test]'"),
    ],
)
def test_a_project_that_setuptools_cannot_build_gets_only_its_dependencies(
    files: dict[str, str], installs: str
) -> None:
    assert resolve_setup(None, of(files)).command == f"{VENV} && {PIP} {installs}"
