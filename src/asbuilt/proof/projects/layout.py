"""Tell whether setuptools would refuse to build a project because it finds several top-level names.

Without an explicit list, setuptools builds the only package of a folder, or its only module. Every folder
counts as a package, also `plans/`. Two of them are an error, so `pip install -e .` fails.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from asbuilt.proof.projects.index import below
from asbuilt.proof.projects.manifests import ini, table, toml

if TYPE_CHECKING:
    from asbuilt.proof.projects.index import Index

_NO_PACKAGE: Final = re.compile(
    r"ci|bin|debian|docs?|documentation|manpages|news|newsfragments|changelog|tests?|unit_tests?|examples?|scripts"
    r"|tools|utils?|python|build|benchmarks?|exercises?|htmlcov|[._].*"
)
_NO_MODULE: Final = re.compile(
    r"setup|conftest|tests?|examples?|build|toxfile|noxfile|pavement|dodo|tasks|fabfile|[Ss][Cc]onstruct|conanfile"
    r"|manage|benchmarks?|exercises?|[._].*"
)
"""Names that setuptools leaves out of a flat layout."""
_EXPLICIT: Final = ("packages", "py-modules", "package-dir", "ext-modules")


def is_ambiguous(index: Index, folder: str) -> bool:
    """Return whether setuptools builds this project and finds more than one package, or only modules."""
    pyproject = toml(index.text(folder, "pyproject.toml"))
    backend = table(pyproject, "build-system").get("build-backend", "setuptools.build_meta")
    options = ini(index.text(folder, "setup.cfg")).get("options", {})
    if (
        not str(backend).startswith("setuptools")
        or index.here(folder, "setup.py")
        or table(pyproject, "tool", "poetry")
        or any(name in table(pyproject, "tool", "setuptools") for name in _EXPLICIT)
        or any(name in options for name in ("packages", "py_modules"))
        or index.exists(below(folder, "src"))
    ):
        return False
    packages = [
        name for name in index.folders_in(folder) if name.isidentifier() and not _NO_PACKAGE.fullmatch(name)
    ]
    modules = [name.removesuffix(".py") for name in index.here(folder, "*.py")]
    return len(packages or [name for name in modules if not _NO_MODULE.fullmatch(name)]) > 1
