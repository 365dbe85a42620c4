"""Read the test command and packages that tox, nox and hatch declare, to run them without these tools.

Each tool creates its own environments, which needs a network, and checks have none.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from asbuilt.proof.projects.index import Index, below
from asbuilt.proof.projects.manifests import ini, table, texts, toml

_NAMES: Final = tuple("tests test testing unit unittest unittests pytest hatch-test py py3 default".split())
_FACTOR: Final = re.compile(r"^([\w.,{}!-]+):\s+(.*)$")
_POSARGS: Final = re.compile(r"\{posargs(?::([^{}]*))?\}")
_RUNNERS: Final = tuple(
    "stestr trial nose2 nosetests green zope-testrunner ward behave robot avocado".split()
)
_DROPPED: Final = re.compile(
    r"^(--(cov|no-cov|junit|basetemp|tb|color|durations|dist|html|numprocesses|verbos|quiet|showlocals|log|capture|timeout|reruns"
    r"|show-capture|strict|codspeed|full-trace|pyargs)\b|-[nvqsl]|-r\w|-x$|--maxfail)"
)
_TAKES_VALUE: Final = tuple(
    "-n --cov --cov-report --cov-config --basetemp --junitxml --tb --durations --dist --maxfail".split()
)
_KEPT_WITH_VALUE: Final = "-m -k -p -c -o -W --ignore --ds --deselect --rootdir --import-mode".split()
_ARGUMENTS: Final = 120


class Declared(NamedTuple):
    """The declaration of one tool."""

    tool: str
    command: tuple[str, ...] = ()
    """Words of the command that runs tests."""
    packages: tuple[str, ...] = ()
    """Arguments for pip, as declared."""
    groups: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    file: str = ""
    """The file that declares it."""

    @property
    def runner(self) -> str:
        """The runner of the command: pytest, unittest or django; otherwise the tool."""
        names = [word.rpartition("/")[2] for word in self.command]
        if "pytest" in names[:5] or "py.test" in names[:5]:
            return "pytest"
        if "unittest" in names:
            return "unittest"
        return "django" if "manage.py" in names or "django-admin" in names else self.tool


def declarations(index: Index, folder: str) -> Iterator[Declared]:
    """Yield what each of the tools declares in a folder."""
    project = "pyproject.toml"
    tool = table(toml(index.text(folder, project)), "tool")
    hatch = toml(index.text(folder, "hatch.toml"))
    found = (
        ("tox.ini", _tox(ini(index.text(folder, "tox.ini")))),
        (project, _tox(ini(str(table(tool, "tox").get("legacy_tox_ini", ""))))),
        (project, _tox_toml(table(tool, "tox"))),
        ("tox.toml", _tox_toml(toml(index.text(folder, "tox.toml")))),
        ("noxfile.py", _nox(index.text(folder, "noxfile.py"))),
        (project, _hatch(table(tool, "hatch", "envs"))),
        ("hatch.toml", _hatch(table(hatch, "envs"))),
    )
    for file, declared in found:
        yield from (declaration._replace(file=file) for declaration in declared)


def arguments(declared: Declared, index: Index, folder: str) -> str:
    """Return the arguments of a declared pytest that select tests, without its reporting options."""
    at = next(
        at for at, word in enumerate(declared.command) if word.rpartition("/")[2] in ("pytest", "py.test")
    )
    kept: list[str] = []
    words = iter(declared.command[at + 1 :])
    for word in words:
        if _DROPPED.match(word):
            if word in _TAKES_VALUE:
                next(words, None)
        elif word in _KEPT_WITH_VALUE:
            kept += [word, next(words, "")]
        elif word.startswith("-") or index.exists(below(folder, word.partition("::")[0].removeprefix("./"))):
            kept.append(word)
    text = shlex.join(kept)
    return f" {text}" if kept and len(text) <= _ARGUMENTS else ""


def _tox(sections: dict[str, dict[str, str]]) -> Iterator[Declared]:
    found = [sections.get("testenv", {}), *(sections.get(f"testenv:{name}", {}) for name in _NAMES)]
    main = found[0]
    for section in (main, *(row for row in found[1:] if row)):
        commands = (_words(line) for line in _conditional(section.get("commands", "")))
        command = next((words for words in commands if is_test(words)), None)
        if command is None:
            continue
        values = {**main, **section}
        yield Declared(
            "tox",
            command,
            tuple(package for line in _conditional(values.get("deps", "")) for package in _packages(line)),
            tuple(_conditional(values.get("dependency_groups", "").replace(",", "\n"))),
            tuple(_conditional(values.get("extras", "").replace(",", "\n"))),
        )
        return


def _conditional(text: str) -> Iterator[str]:
    """Yield the lines of a value that apply to a plain test environment."""
    for line in text.replace("\\\n", " ").splitlines():
        found = _FACTOR.match(line.strip())
        if found is None:
            yield from [line.strip()] if line.strip() else []
        elif {*re.split(r"[,{}-]", found[1])} & {*_NAMES}:
            yield found[2].strip()


def _packages(line: str) -> tuple[str, ...]:
    line = line.replace("{toxinidir}/", "").replace("{toxinidir}", ".").replace("{tox_root}/", "")
    if "{" in line:
        return ()
    return ("-r", line[2:].strip()) if line.startswith("-r") else (line,)


def _words(line: str) -> tuple[str, ...]:
    line = _POSARGS.sub(lambda found: found[1] or "", line.lstrip("- !@"))
    for name in ("{envpython}", "{envbindir}/python"):
        line = line.replace(name, "python")
    line = line.replace("{toxinidir}/", "").replace("{tox_root}/", "").replace("{envbindir}/", "")
    try:
        words = shlex.split(line)
    except ValueError:
        return ()
    return tuple(word for word in words if "{" not in word) if "{[" not in line else ()


def is_test(words: tuple[str, ...]) -> bool:
    """Return whether a command runs tests, by its program or, for Python, by its words."""
    if not words:
        return False
    program = words[0].rpartition("/")[2]
    if program in ("coverage", "slipcover") and "run" in words:
        return is_test(("python", *words[words.index("run") + 1 :]))
    if re.fullmatch(r"python[\d.]*", program):
        return any("test" in word.lower() for word in words[1:]) and "pip" not in words
    return program in ("pytest", "py.test", "django-admin", *_RUNNERS)


def runnable(words: tuple[str, ...]) -> str:
    """Return a declared command as it runs in the check environment, without measuring coverage."""
    if words[0] == "coverage":
        after = words[words.index("run") + 1 :]
        at = next((at for at, word in enumerate(after) if word == "-m" or not word.startswith("-")), 0)
        words = ("python", *after[at:])
    return shlex.join(words)


def _tox_toml(tool: dict[str, Any]) -> Iterator[Declared]:
    for env in (table(tool, "env_run_base"), *(table(tool, "env", name) for name in _NAMES)):
        commands = env.get("commands")
        rows = [tuple(texts(row)) for row in commands] if isinstance(commands, list) else []
        command = next((_words(shlex.join(row)) for row in rows if is_test(row)), None)
        if command is not None:
            packages = tuple(package for line in texts(env.get("deps")) for package in _packages(line))
            groups, extras = texts(env.get("dependency_groups")), texts(env.get("extras"))
            yield Declared("tox", command, packages, tuple(groups), tuple(extras))
            return


def _hatch(envs: dict[str, Any]) -> Iterator[Declared]:
    for name in _NAMES:
        env = table(envs, name)
        packages = [*texts(env.get("dependencies")), *texts(env.get("extra-dependencies"))]
        scripts = [line for value in table(env, "scripts").values() for line in texts(value)]
        found = (_words(re.sub(r"\{args(?::([^{}]*))?\}", r"\1", line)) for line in scripts)
        command = next((words for words in found if is_test(words)), ())
        if command or packages:
            groups, extras = texts(env.get("dependency-groups")), texts(env.get("features"))
            yield Declared("hatch", command, tuple(packages), tuple(groups), tuple(extras))
            return


def _nox(text: str) -> Iterator[Declared]:
    try:
        module = ast.parse(text) if text else ast.Module([], [])
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    sessions = [node for node in module.body if isinstance(node, ast.FunctionDef) and node.decorator_list]
    for session in sorted(sessions, key=lambda node: "test" not in node.name):
        calls = [
            (call.func.attr, _literals(call))
            for call in ast.walk(session)
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
        ]
        command = next((words for name, words in calls if name == "run" and is_test(words)), None)
        if command is not None:
            packages = [word for name, words in calls if name == "install" for word in words]
            yield Declared("nox", command, tuple(packages))
            return


def _literals(call: ast.Call) -> tuple[str, ...]:
    return tuple(
        argument.value
        for argument in call.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    )
