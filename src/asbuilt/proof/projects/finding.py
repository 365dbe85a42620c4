"""Find every suite of a tree: the best of each folder, unless a suite above it already runs it.

Rule: a total function of names and texts; the same tree gives the same suites in the same order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from asbuilt.proof.projects import node, python
from asbuilt.proof.projects.index import Index, below, is_aside, is_within, parent, top_first
from asbuilt.proof.projects.known_runners import DOCKER, FOREIGN, TABLE, Family, Row
from asbuilt.proof.projects.manifests import table, texts, toml
from asbuilt.proof.projects.model import Project, Suite

MOST: Final = 12
"""Most suites that are proposed; further ones are listed as not run."""
_SHOWN: Final = 5
_OF_TABLE: Final = tuple(row for row in TABLE if row.family not in ("python", "node"))
_NATIVE_BACKENDS: Final = re.compile(
    r"maturin|setuptools[-_]rust|scikit[-_]build|mesonpy|meson-python|py-build-cmake"
)
_FETCHES: Final = re.compile(r"FetchContent|ExternalProject_Add|CPMAddPackage")
_TEST_OPTION: Final = re.compile(
    r"(?im)^\s*option\s*\(\s*(?!\w*(?:WITHOUT|DISABLE|NO_|SKIP))(\w*(?:BUILD|ENABLE|WITH)\w*TESTS?(?:ING)?)"
    r'\s+"[^"\n]*"(?:\s+(OFF|FALSE|0))?\s*\)'
)
_MESON_OPTION: Final = re.compile(
    r"(?s)option\s*\(\s*'(\w*tests?)'[^)]*type\s*:\s*'boolean'[^)]*value\s*:\s*false"
)
_MARKED: Final = ("package.json", *sorted({mark.name for row in _OF_TABLE for mark in row.marks}))
_SETUP_OF: Final = (
    "pyproject.toml", "setup.cfg", "setup.py", "tox.ini", "noxfile.py", "*requirements*.txt", "package.json",
    "go.mod", "pom.xml", "build.gradle", "build.gradle.kts", "Cargo.toml", "Gemfile",
)  # fmt: skip


class Found(NamedTuple):
    """The suites of a tree."""

    suites: tuple[Suite, ...]
    signs: tuple[str, ...]
    """One file for each suite that shows it."""
    others: tuple[Suite, ...]
    unknown: tuple[str, ...]
    """Signs of tests that no suite runs."""
    docker: tuple[str, ...]
    """Files whose text shows that tests start containers."""


class _Candidate(NamedTuple):
    family: Family
    sign: str
    suite: Suite


def has_test_files(project: Project) -> bool:
    """Return whether the name of any file is that of a test."""
    return any(Index(project).tests.values())


def find(project: Project) -> Found:
    """Find the suites of a tree."""
    index = Index(project)
    chosen: list[_Candidate] = []
    others: list[_Candidate] = []
    homes = python.homes(index)
    for folder in top_first({*index.folders, *homes}):
        if folder not in homes and folder and not index.here(folder, *_MARKED):
            continue
        above = (place.suite.folder for place in chosen if is_within(folder, place.suite.folder))
        if any(is_aside(folder[len(upper) :]) for upper in above):
            continue
        ranked = _ranked(index, folder, homes)
        best: dict[Family, _Candidate] = {}
        for place in ranked:
            best.setdefault(place.family, place)
        taken = [place for place in _taken(index, [*best.values()]) if not _is_covered(index, place, chosen)]
        others += [place for place in ranked if taken and place not in taken]
        chosen += taken
    suites = [place.suite for place in chosen]
    signs = tuple(dict.fromkeys(place.sign for place in chosen))
    unknown = [*_unknown(index, suites), *(place.sign for place in chosen[MOST:])]
    docker = tuple(sorted({path for suite in suites for path in _docker(index, suite)}))
    return Found(
        tuple(suites[:MOST]),
        signs[:_SHOWN],
        tuple(place.suite for place in others)[:MOST],
        tuple(unknown)[:_SHOWN],
        docker[:_SHOWN],
    )


def _ranked(index: Index, folder: str, homes: Mapping[str, Sequence[str]]) -> list[_Candidate]:
    """List the candidates of a folder, best first."""
    found: list[_Candidate] = []
    if folder in homes or not (homes or folder):
        # Separate Python projects below.
        inner = [home for home in homes if home != folder and is_within(home, folder)]
        apart = [
            path for path in inner if python.is_rooted(index, path) and not is_aside(path[len(folder) :])
        ]
        ranked = python.candidates(index, folder, homes.get(folder, []), sorted(apart))
        found += [_Candidate("python", sign, suite) for sign, suite in ranked]
    found += [_Candidate("node", sign, suite) for sign, suite in node.candidates(index, folder)]
    for row in _OF_TABLE:
        sign = _sign(index, folder, row)
        if sign is not None:
            command, setup = (_filled(index, folder, template) for template in (row.command, row.setup))
            suite = Suite(folder, command, row.name, row.counts, setup)
            found.append(_Candidate(row.family, below(folder, sign), suite))
    return found


def _sign(index: Index, folder: str, row: Row) -> str | None:
    """Return the file of a folder that shows a runner; None if there is none, or its tests are missing."""
    for mark in row.marks:
        for name in index.here(folder, mark.name):
            texts = index.texts_below(folder, name) if mark.part == "below" else [index.text(folder, name)]
            is_there = not mark.pattern or any(re.search(mark.pattern, text) for text in texts)
            if is_there and (row.needs is None or index.tests_below(folder, row.needs)):
                return name
    return None


def _taken(index: Index, best: Sequence[_Candidate]) -> Iterator[_Candidate]:
    """Yield the families of a folder that are suites: the first, and others with tests of their own.

    A recipe is a suite only if it is the first, because it starts what the others name. If a Python package
    is built from another language, Python's suite tests both.
    """
    families = {place.family for place in best}
    folder = best[0].suite.folder if best else ""
    built = "python" in families and _NATIVE_BACKENDS.search(index.text(folder, "pyproject.toml"))
    for place in best:
        is_built = built and place.family in ("rust", "native")
        is_apart = place is best[0] or (place.family != "recipe" and _has_own(index, folder, place))
        if is_apart and not is_built:
            yield place


def _has_own(index: Index, folder: str, place: _Candidate) -> bool:
    """Return whether a candidate beside another one has tests that its runner is known to run."""
    if place.family in ("rust", "native"):
        return True
    language = next((known for known in index.tests if known == place.family), None)
    return language is not None and place.suite.runner != "npm" and bool(index.tests_below(folder, language))


def _is_covered(index: Index, place: _Candidate, chosen: Sequence[_Candidate]) -> bool:
    folder = place.suite.folder
    above = [
        other for other in chosen if other.suite.folder != folder and is_within(folder, other.suite.folder)
    ]
    if above and (
        place.family == "recipe" or (place.family == "python" and not python.is_rooted(index, folder))
    ):
        return True
    if above and place.suite.runner == "node:test" and not node.script_of(index, folder):
        return True
    return any(other.family == place.family and _covers(index, other, folder) for other in above) or any(
        other.family in ("native", "recipe") and place.family in ("native", "recipe") for other in above
    )


def _covers(index: Index, other: _Candidate, folder: str) -> bool:
    """Return whether a suite runs the tests of a folder below it, of the same family."""
    above = other.suite.folder
    match other.family:
        case "python":
            return python.covers(index, above, other.suite, folder)
        case "node":
            return folder in node.members(index, above)
        case "rust":
            workspace = table(toml(index.text(above, "Cargo.toml")), "workspace")
            left_out = [below(above, path.rstrip("/")) for path in texts(workspace.get("exclude"))]
            is_own = "workspace" in toml(index.text(folder, "Cargo.toml"))
            return bool(workspace) and not is_own and not any(is_within(folder, path) for path in left_out)
        case "jvm":
            return other.suite.runner == "gradle" or _is_module(index, above, folder)
        case "go":
            return False
        case "native" | "ruby" | "perl" | "recipe":
            return True


def _is_module(index: Index, above: str, folder: str) -> bool:
    """Return whether a pom.xml names a folder as a module, directly or through modules between them."""
    modules = re.findall(r"<module>\s*([^<\s]+)\s*</module>", index.text(above, "pom.xml"))
    found = [below(above, module.strip("./")) for module in modules]
    return folder in found or any(
        is_within(folder, inner) and _is_module(index, inner, folder)
        for inner in found
        if inner != above and is_within(inner, above)
    )


def _filled(index: Index, folder: str, template: str) -> str:
    off = [name for name, is_off in _TEST_OPTION.findall(index.text(folder, "CMakeLists.txt")) if is_off]
    options = [f"-D{name}=ON" for name in off] if template.startswith("cmake") else []
    if template.startswith("meson"):
        declared = index.text(folder, "meson.options") or index.text(folder, "meson_options.txt")
        options = [f"-D{name}=true" for name in _MESON_OPTION.findall(declared)]
    if template.startswith("cargo test") and table(toml(index.text(folder, "Cargo.toml")), "workspace"):
        options = ["--workspace"]
    inner = (path for path in index.folders if is_within(path, folder))
    fetches = any(_FETCHES.search(index.text(path, "CMakeLists.txt")) for path in inner)
    if fetches and template.startswith("cmake"):
        options.append("-DFETCHCONTENT_FULLY_DISCONNECTED=ON")
    build = "_build" if index.exists(below(folder, "build")) else "build"
    values = {
        "options": "".join(f" {option}" for option in options),
        "locked": " --locked" if index.here(folder, "Cargo.lock") else "",
        "build": build,
        "fetched": f"cmake -S . -B {build}" if fetches else "",
        "maven": "./mvnw" if index.here(folder, "mvnw") else "mvn",
        "gradle": "./gradlew" if index.here(folder, "gradlew") else "gradle",
        "bundle": 'bundle config set --local path "$HOME/bundle" && bundle install',
    }
    for name, value in values.items():
        template = template.replace(f"{{{name}}}", value)
    return template


def _unknown(index: Index, suites: Sequence[Suite]) -> Iterator[str]:
    """Yield signs of tests that no suite runs: tests outside suites, and manifests of other ecosystems."""
    folders = [suite.folder for suite in suites]
    for folder in index.folders:
        foreign = index.here(folder, *FOREIGN)
        if foreign and index.tests_below(folder, "other") and not is_aside(folder):
            yield below(folder, foreign[0])
    for tests in index.tests.values():
        outside = (test for test in tests if not any(is_within(parent(test), folder) for folder in folders))
        yield from [first] if (first := next(outside, "")) else []


def _docker(index: Index, suite: Suite) -> Iterator[str]:
    """Yield the manifests of a suite's folder that show that its tests start containers."""
    for name in index.here(suite.folder, *_SETUP_OF):
        text = re.sub(r"(?m)^.*//\s*indirect$", "", index.text(suite.folder, name))
        if name == "package.json":
            text = f"{node.script_of(index, suite.folder)}\n{text}"
        if re.search(DOCKER, text):
            yield below(suite.folder, name)
