"""Find the Python suites of a folder: by pytest's settings, tox, nox, hatch, or test files.

The setup creates a virtual environment with the project and its test packages. Only the first source of test
packages that has the runner is used. A lock file pins the versions.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from asbuilt.proof.projects.declared import arguments, declarations, runnable
from asbuilt.proof.projects.index import Index, below, is_aside, is_within, parent
from asbuilt.proof.projects.known_runners import row
from asbuilt.proof.projects.manifests import ini, lines, name_of, table, texts, toml
from asbuilt.proof.projects.model import Suite
from asbuilt.proof.projects.pytest_plugins import plugins, settings_of

MANIFESTS: Final = (
    "pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "tox.toml", "pytest.ini",
    ".pytest.ini", "pytest.toml", "noxfile.py",    "manage.py", "requirements*.txt", "Pipfile", "hatch.toml",
)  # fmt: skip
_PACKAGES: Final = tuple(
    "pyproject.toml setup.py setup.cfg tox.ini noxfile.py Pipfile *requirements*.txt".split()
)
_MENTION: Final = re.compile(r"(?<![\w-])pytest(?!\w)")
_TEST_FOLDERS: Final = ("test", "tests", "testing", "unit", "unittests", "integration", "functional", "spec")
_TESTS: Final = ("test", "tests", "testing", "test-requirements", "tests-require")
_DEV: Final = ("dev", "develop", "development", "devel", "all")
_FILES: Final = (
    "requirements[-_.]test*.txt", "test[-_.]requirements.txt", "tests[-_.]requirements.txt",
    "requirements[-_.]ci.txt", "requirements[-_.]dev*.txt", "dev[-_.]requirements.txt",
)  # fmt: skip
_FOLDERS: Final = (
    ("tests", "requirements*.txt"),
    ("test", "requirements*.txt"),
    ("requirements", "*test*.txt"),
    ("requirements", "dev*.txt"),
)
_VENV: Final = 'python3 -m venv "$VIRTUAL_ENV"'
_PIP: Final = "python -m pip install -q"
_NEW_PIP: Final = f"{_PIP} -U 'pip>=25.1'"
"""The first version that installs dependency groups."""
_PINS: Final = (
    """awk -F'"' '/^name = /{n=$2} /^version = "/{if(n in v)v[n]="";else v[n]=$2}"""
    """ /^source = \\{ (editable|virtual|directory|git|url)/{v[n]=""}"""
    """ END{for(n in v)if(v[n])print n"=="v[n]}' LOCK > "$HOME/pins.txt\""""
)
"""Each package of a lock file that has one version there, as a constraint for pip.

mawk assigns before it evaluates `n in v` on the right, hence the `if`.
"""
_PINNED: Final = '-c "$HOME/pins.txt"'
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
    declared = {
        declaration.runner: declaration
        for declaration in reversed([*declarations(index, folder)])
        if declaration.command
    }
    strong = _settings(index, folder)
    declared_pytest = declared.get("pytest")
    if strong is None and declared_pytest is not None:
        strong = declared_pytest.file
    mention = next(
        (name for name in index.here(folder, *_PACKAGES) if _MENTION.search(index.text(folder, name))), None
    )
    pytest = row("pytest").command.replace(
        "{arguments}", arguments(declared_pytest, index, folder) if declared_pytest else ""
    )
    if declared_pytest is None:
        left = [inner for inner in apart if any(is_within(inner, path) for path in _collected(index, folder))]
        pytest += "".join(f" --ignore={inner[len(folder) + 1 :] if folder else inner}" for inner in left)
    sign = next((name for name in tests if not name.endswith("conftest.py")), None)
    found = [(strong, "pytest", pytest)] if strong is not None else []
    found += [
        (tool.file, name, runnable(tool.command)) for name, tool in declared.items() if name != "pytest"
    ]
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
    found = settings_of(index, folder).get("testpaths", ())
    return [below(folder, path.strip("./")) if path.strip("./") else folder for path in found] or [folder]


class _Source(NamedTuple):
    words: tuple[str, ...]
    """Arguments for pip."""
    names: frozenset[str]
    extra: str = ""
    group: str = ""


def python_setup(index: Index, folder: str, runner: str) -> str:
    """Return the command that prepares a Python folder; `runner` is installed if no source has it."""
    pyproject = toml(index.text(folder, "pyproject.toml"))
    wants = "pytest" if runner == "pytest" else ""
    found = [*_sources(index, folder, pyproject)]
    rest = _rest(index, folder, pyproject) if wants else ()
    runs = re.compile(rf"{wants}(-|$)")
    best = next(
        (option for option in (*found, *rest) if not wants or any(map(runs.match, option.names))), None
    )
    chosen = [best] if best else [source for source in found if not source.names & {"tox", "nox"}][:1]
    known = {name for source in chosen for name in source.names}
    needed = [name for name in plugins(index, folder) if name not in known] if wants else []
    chosen += [_Source(tuple(needed), frozenset(needed))] if needed else []
    words = [
        *_project(index, folder, pyproject, chosen),
        *(word for source in chosen for word in source.words),
    ]
    if wants and best is None:
        words.append(wants)
    lock = next(iter(index.here(folder, "uv.lock", "poetry.lock", "pdm.lock")), "")
    pip = " ".join([_PIP, *([_PINNED] if lock else []), *dict.fromkeys(_quoted(words))])
    steps = [_NEW_PIP] if "--group" in words else []
    if lock:
        steps.append(_PINS.replace("LOCK", lock))
    steps.append(pip)
    if not words:
        return _VENV
    installed = " && ".join(steps)
    if lock == "uv.lock":
        uv_command = " ".join(_uv(pyproject, chosen, wants if best is None else ""))
        installed = f"if command -v uv >/dev/null; then {uv_command}; else {installed}; fi"
    return f"{_VENV} && {installed}"


def _uv(pyproject: dict[str, Any], chosen: Sequence[_Source], missing: str) -> Iterator[str]:
    yield "uv sync --frozen --inexact"
    if table(pyproject, "tool", "uv", "workspace"):
        yield "--all-packages"
    if any(source.group for source in chosen):
        yield "--no-default-groups"
    for source in chosen:
        yield from [f"--group {source.group}"] if source.group else []
        yield from [f"--extra {source.extra}"] if source.extra else []
    loose = [word for source in chosen if not source.group and not source.extra for word in source.words]
    if loose or missing:
        yield f"&& uv pip install {' '.join(_quoted([*loose, *([missing] if missing else [])]))}"


def _quoted(words: Sequence[str]) -> Iterator[str]:
    """Quote words for a shell; an option and its value are one word."""
    at = iter(words)
    for word in at:
        takes_next = word in ("-r", "-e", "-c", "--group")
        yield f"{word} {shlex.quote(next(at, ''))}" if takes_next else shlex.quote(word)


def _project(
    index: Index, folder: str, pyproject: dict[str, Any], chosen: Sequence[_Source]
) -> Iterator[str]:
    """Yield the arguments that install the project itself, editable, or its runtime packages."""
    extras = [source.extra for source in chosen if source.extra]
    is_package = (
        "project" in pyproject
        or "build-system" in pyproject
        or table(pyproject, "tool", "poetry")
        or index.here(folder, "setup.py")
        or "metadata" in ini(index.text(folder, "setup.cfg"))
    )
    words = [word for source in chosen for word in source.words]
    if is_package and _is_ambiguous(index, folder):
        optional = table(pyproject, "project", "optional-dependencies")
        yield from texts(table(pyproject, "project").get("dependencies"))
        yield from (word for extra in extras for word in texts(optional.get(extra)))
    elif is_package and table(pyproject, "tool", "poetry").get("package-mode") is not False:
        yield from ("-e", f".[{','.join(extras)}]" if extras else ".")
    elif table(pyproject, "tool", "poetry"):
        yield from _poetry(table(pyproject, "tool", "poetry", "dependencies"))
    if not is_package:
        names = index.here(folder, "requirements.txt", "requirements.in")[:1]
        yield from (word for name in names if name not in words for word in ("-r", name))
        packages = table(toml(index.text(folder, "Pipfile")), "packages")
        yield from _poetry(packages)


def _is_ambiguous(index: Index, folder: str) -> bool:
    """Return whether setuptools would refuse to build a project: it finds several top-level names.

    Without an explicit list, setuptools builds the only package of a folder, or its only module. Every folder
    counts as a package, also `plans/`. Two of them are an error, so `pip install -e .` fails.
    """
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


def _sources(index: Index, folder: str, pyproject: dict[str, Any]) -> Iterator[_Source]:
    """Yield every source of test packages, best first."""
    groups, extras = _groups(pyproject), _extras(index, folder, pyproject)
    poetry = table(pyproject, "tool", "poetry")
    yield from _named(groups, extras, poetry, _TESTS)
    for declared in declarations(index, folder):
        words = [word for word in declared.packages if not re.match(r"^-e|^\.(\[|$)", word)]
        known = [group for group in declared.groups if group in groups]
        names = {*_names(index, folder, words)}.union(*(groups[group] for group in known))
        options = [word for group in known for word in ("--group", group)]
        if words or known:
            extra = ",".join(wanted for wanted in declared.extras if wanted in extras)
            yield _Source((*options, *words), frozenset(names), extra)
    for place, pattern in ((folder, pattern) for pattern in _FILES):
        yield from (_file(index, folder, place, name) for name in index.here(place, pattern))
    for inner, pattern in _FOLDERS:
        place = below(folder, inner)
        yield from (_file(index, folder, place, name) for name in index.here(place, pattern))
    yield from _named(groups, extras, poetry, _DEV)
    pipfile = toml(index.text(folder, "Pipfile"))
    for packages in (table(poetry, "dev-dependencies"), table(pipfile, "dev-packages")):
        yield from [_Source(tuple(_poetry(packages)), frozenset(map(name_of, packages)))] if packages else []


def _rest(index: Index, folder: str, pyproject: dict[str, Any]) -> Iterator[_Source]:
    """Yield sources for other purposes, used only if no better source has the runner."""
    groups, extras = _groups(pyproject), _extras(index, folder, pyproject)
    poetry = table(pyproject, "tool", "poetry")
    every = {*groups, *extras, *table(poetry, "group")} - {*_TESTS, *_DEV}
    best_first = sorted(every, key=lambda name: ("test" not in name, name))
    yield from _named(groups, extras, poetry, tuple(best_first))
    yield from (_file(index, folder, folder, name) for name in index.here(folder, "requirements*.txt"))


def _named(
    groups: dict[str, frozenset[str]],
    extras: dict[str, frozenset[str]],
    poetry: dict[str, Any],
    wanted: tuple[str, ...],
) -> Iterator[_Source]:
    for name in wanted:
        if name in groups:
            yield _Source(("--group", name), groups[name], group=name)
        if name in extras:
            yield _Source((), extras[name], extra=name)
        packages = table(poetry, "group", name, "dependencies")
        if packages:
            yield _Source(tuple(_poetry(packages)), frozenset(map(name_of, packages)))


def _groups(pyproject: dict[str, Any]) -> dict[str, frozenset[str]]:
    declared = table(pyproject, "dependency-groups")

    def names(group: str, seen: frozenset[str]) -> frozenset[str]:
        rows = declared.get(group)
        if group in seen or not isinstance(rows, list):
            return frozenset()
        inner = [str(row.get("include-group", "")) for row in rows if isinstance(row, dict)]
        own = {name_of(row) for row in rows if isinstance(row, str)}
        return frozenset(own).union(*(names(nested, seen | {group}) for nested in inner))

    return {group: names(group, frozenset()) for group in declared if re.fullmatch(r"[\w.-]+", group)}


def _extras(index: Index, folder: str, pyproject: dict[str, Any]) -> dict[str, frozenset[str]]:
    declared: dict[str, Any] = dict(table(pyproject, "project", "optional-dependencies"))
    declared |= ini(index.text(folder, "setup.cfg")).get("options.extras_require", {})
    found = {name: frozenset(map(name_of, texts(rows))) for name, rows in declared.items()}
    text = index.text(folder, "setup.py")
    _, is_there, after = text.partition("extras_require")
    if is_there:
        for name, rows in re.findall(r"""["']([\w.-]+)["']\s*:\s*\[([^\]]*)\]""", after):
            found.setdefault(name, frozenset(map(name_of, re.findall(r"""["']([^"']+)["']""", rows))))
    return {name: names for name, names in found.items() if re.fullmatch(r"[\w.-]+", name)}


def _poetry(packages: dict[str, Any]) -> Iterator[str]:
    """Yield the package names of a table; the lock file pins their versions."""
    yield from (name for name in packages if re.fullmatch(r"[\w.-]+", name) and name != "python")


def _file(index: Index, folder: str, place: str, name: str) -> _Source:
    path = below(place, name)
    path = path[len(folder) + 1 :] if folder else path
    return _Source(("-r", path), frozenset(_names(index, folder, ["-r", path])))


def _names(index: Index, folder: str, words: Sequence[str], depth: int = 0) -> Iterator[str]:
    """Yield the packages that pip arguments name, including those in requirements files, up to 4 levels."""
    at = iter(words)
    for word in at:
        if word == "-r" and depth < 4:
            path = below(folder, next(at, ""))
            place, _, name = path.rpartition("/")
            for line in lines(index.text(place, name)):
                if line.startswith(("-r", "--requirement")):
                    inner = line.split(maxsplit=1)[-1].removeprefix("-r")
                    yield from _names(index, place, ("-r", inner), depth + 1)
                else:
                    yield name_of(line)
        else:
            yield name_of(word)
