"""Find the Python suites of a folder: by pytest's settings, tox, nox, hatch, or test files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from asbuilt.proof.projects.declared import arguments, declarations, runnable
from asbuilt.proof.projects.index import Index, below, is_aside, is_within, parent
from asbuilt.proof.projects.manifests import ini, table, texts, toml
from asbuilt.proof.projects.model import Suite
from asbuilt.proof.projects.packages import python_setup
from asbuilt.proof.projects.runner_marks import row

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MANIFESTS: Final = (
    "pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "tox.toml", "pytest.ini",
    ".pytest.ini", "pytest.toml", "noxfile.py",    "manage.py", "requirements*.txt", "Pipfile", "hatch.toml",
)  # fmt: skip
_PACKAGES: Final = tuple(
    "pyproject.toml setup.py setup.cfg tox.ini noxfile.py Pipfile *requirements*.txt".split()
)
_MENTION: Final = re.compile(r"(?<![\w-])pytest(?!\w)")
_TEST_FOLDERS: Final = ("test", "tests", "testing", "unit", "unittests", "integration", "functional", "spec")


def homes(index: Index) -> dict[str, list[str]]:
    """Return each folder from which Python tests are run, with its tests.

    It is the nearest folder above a test that has a manifest; without one, the first that is not a package.
    """
    aside = (*_TEST_FOLDERS, "requirements", "docs", "doc")
    named = (folder for folder in index.folders if folder.rpartition("/")[2] not in aside)
    known = {folder for folder in named if index.here(folder, *MANIFESTS)}
    found: dict[str, list[str]] = {}
    for test in index.tests["python"]:
        found.setdefault(_home(index, parent(test), known), []).append(test)
    return found


def _home(index: Index, folder: str, known: set[str]) -> str:
    above = folder
    while above and above not in known:
        above = parent(above)
    if above in known:
        return above
    while folder and (folder.rpartition("/")[2] in _TEST_FOLDERS or index.here(folder, "__init__.py")):
        folder = parent(folder)
    return folder


def is_rooted(index: Index, folder: str) -> bool:
    """Return whether a folder has a manifest of its own."""
    return bool(index.here(folder, *MANIFESTS))


def candidates(
    index: Index, folder: str, tests: Sequence[str], apart: Sequence[str]
) -> Iterator[tuple[str, Suite]]:
    """Yield the possible suites of a folder, each with the file that shows it, best first.

    `apart` has the folders below with suites of their own; pytest gets `--ignore` for them.
    """
    declared = {one.runner: one for one in reversed([*declarations(index, folder)]) if one.command}
    source = {"tox": "tox.ini", "nox": "noxfile.py", "hatch": "pyproject.toml"}
    strong = _settings(index, folder)
    told = declared.get("pytest")
    if strong is None and told is not None:
        strong = source[told.tool]
    mention = next(
        (name for name in index.here(folder, *_PACKAGES) if _MENTION.search(index.text(folder, name))), None
    )
    pytest = row("pytest").command.replace("{arguments}", arguments(told, index, folder) if told else "")
    if told is None:
        left = [inner for inner in apart if any(is_within(inner, path) for path in _collected(index, folder))]
        pytest += "".join(f" --ignore={inner[len(folder) + 1 :] if folder else inner}" for inner in left)
    sign = next((name for name in tests if not name.endswith("conftest.py")), None)
    found: list[tuple[str, str, str]] = []
    if strong is not None:
        found.append((strong, "pytest", pytest))
    for name, one in declared.items():
        if name != "pytest":
            found.append((source[one.tool], name, runnable(one.command)))
    if mention and sign:
        found.append((mention, "pytest", pytest))
    if index.here(folder, "manage.py") and sign:
        found.append(("manage.py", "django", row("django").command))
    if sign:
        found += [(sign, "pytest", pytest), (sign, "unittest", row("unittest").command)]
    seen: set[str] = set()
    for shown, name, command in found:
        if command not in seen:
            seen.add(command)
            path = shown if "/" in shown else below(folder, shown)
            yield path, Suite(folder, command, name, row(name).counts, python_setup(index, folder, name))


def _settings(index: Index, folder: str) -> str | None:
    for mark in row("pytest").marks:
        for name in index.here(folder, mark.name):
            if not mark.pattern or re.search(mark.pattern, index.text(folder, name), re.MULTILINE):
                return name
    return None


def covers(index: Index, folder: str, suite: Suite, inner: str) -> bool:
    """Return whether a suite of a folder runs the Python tests of a folder below it."""
    if suite.runner != "pytest":
        return is_aside(inner) or suite.runner in ("tox", "nox", "hatch")
    is_package = bool(index.here(inner, "setup.py")) or bool(
        {"project", "build-system"} & {*toml(index.text(inner, "pyproject.toml"))}
    )
    workspace = table(toml(index.text(folder, "pyproject.toml")), "tool", "uv", "workspace")
    is_collected = any(is_within(inner, path) or is_within(path, inner) for path in _collected(index, folder))
    return is_collected and (bool(workspace) or not is_package)


def _collected(index: Index, folder: str) -> list[str]:
    """List the paths that pytest collects from: those in its settings, else the folder."""
    settings: Mapping[str, object] = table(
        toml(index.text(folder, "pyproject.toml")), "tool", "pytest", "ini_options"
    )
    found = texts(settings.get("testpaths"))
    for name, section in (("pytest.ini", "pytest"), ("tox.ini", "pytest"), ("setup.cfg", "tool:pytest")):
        found = found or ini(index.text(folder, name)).get(section, {}).get("testpaths", "").split()
    return [below(folder, path.strip("./")) if path.strip("./") else folder for path in found] or [folder]
