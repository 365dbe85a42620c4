"""The corpus of deceptions and honest work, one file each. docs/reference/lies.md describes the format.

Rule: a case with an unknown key or a missing one is refused, so that a typo cannot make a lie that never
fails.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import tomlkit

from asbuilt.agents.scripted.adapter import parsed
from asbuilt.errors import NotFound, ScriptInvalid

Wanted = Literal["caught", "sign-off", "passes"]
LIES: Final = "lies"
HONEST: Final = "honest"
_TEXTS: Final = {"title", "project", "cause", "outcome", "unsettled", "work", "plan"}
_TURNS: Final = {"acts": "implement", "fix": "fix", "verify": "verify"}
_KNOWN: Final = _TEXTS | {*_TURNS, "because", "eyes", "base"}
_NEEDED: Final = ("title", "project", "cause", "outcome")
_PROJECT: Final = ("tests", "plan", "files")
_NODE: Final = "node"
_TYPED: Final = "typescript"
_TYPESCRIPT: Final = (
    (r'^project = "node"$', 'project = "typescript"'),
    (r"\.js\b", ".ts"),
    (r'^tests = "node ', 'tests = "@NODE@ '),
    (r'(`|run = ")node ', r"\1@NODE@ "),
    (r"function total\(prices\)", "function total(prices: number[]): number"),
    (r"function discounted\(cents, percent\)", "function discounted(cents: number, percent: number): number"),
    (r"function shipping\(grams\)", "function shipping(grams: number): number"),
)
"""Rewrites a node case in TypeScript: file names, the program that runs them, and types."""
_BELIEVES: Final = ({"verdict": "pass"},)
"""A verifier that passes everything, so that a lie must be caught without it."""


class Project(NamedTuple):
    """A kind of project: its files, its plan, and its test command."""

    kind: str
    """The name of its file in `projects`."""
    tests: str
    plan: str
    files: Mapping[str, str]
    work: Mapping[str, Mapping[str, str]]
    """Versions of the phase's work by name, each as files to write."""


class Case(NamedTuple):
    """A deception, or a piece of honest work."""

    name: str
    file: Path
    is_lie: bool
    title: str
    project: Project
    cause: str
    wanted: Wanted
    because: tuple[str, ...]
    """Words that the reason must contain, all of them."""
    by_eyes: bool
    """True: no machine can detect it; the verifier of this case is honest and fails the item."""
    plan: str
    files: Mapping[str, str]
    script: str
    """The script of the agents, for the scripted agent."""
    is_fixed: bool
    """True: the agent has a turn for a fix; else the first refusal ends the case."""


def where(given: Path | None = None) -> Path:
    """Find the corpus: the given folder, the installed package's, or this repository's."""
    if given is not None:
        return _corpus_at(given)
    packed = Path(str(files(__package__).joinpath("corpus")))
    found = packed if packed.is_dir() else Path(__file__).parents[5] / "tests" / "attack"
    if not (found / LIES).is_dir():
        raise NotFound(
            f"there is no corpus of lies at {packed}",
            why="It is installed with asbuilt; without it nothing can be tried.",
            next_step="Install asbuilt again.",
        )
    return found


def _corpus_at(folder: Path) -> Path:
    for part in (LIES, HONEST, "projects"):
        if not (folder / part).is_dir():
            raise NotFound(
                f"{folder} has no folder {part}/",
                why="A corpus has three folders: lies/, honest/ and projects/.",
                next_step="docs/reference/lies.md describes their files.",
            )
    return folder


def read_corpus(folder: Path) -> tuple[Case, ...]:
    """Read every case: lies, then honest work, each by name; then the node cases again in TypeScript."""
    projects = read_projects(folder / "projects")
    found = [file for part in (LIES, HONEST) for file in sorted((folder / part).glob("*.toml"))]
    cases = [read_case(file, projects) for file in found]
    in_types = [read_case(case.file, projects, typed=True) for case in cases if case.project.kind == _NODE]
    return (*cases, *in_types)


def read_projects(folder: Path) -> dict[str, Project]:
    """Read every kind of project: one file each, and node's again in TypeScript."""
    found = {file.stem: _project(file) for file in sorted(folder.glob("*.toml"))}
    typed = {_TYPED: _project(folder / f"{_NODE}.toml", typed=True)} if _NODE in found else {}
    return {**typed, **found}


def read_case(file: Path, projects: Mapping[str, Project], *, typed: bool = False) -> Case:
    """Read a case. The project supplies what the file leaves out; `typed` makes a node case TypeScript."""
    case_data, is_lie = _table(file, typed=typed), file.parent.name == LIES
    refusal = _refusal(case_data, projects, is_lie=is_lie)
    if refusal is not None:
        raise _wrong(file, refusal)
    project = projects[case_data["project"]]
    work = project.work[case_data.get("work", "none")]
    return Case(
        name=file.stem.replace(_NODE, "typescript", 1) if typed else file.stem,
        file=file,
        is_lie=is_lie,
        title=case_data["title"],
        project=project,
        cause=case_data["cause"],
        wanted=case_data["outcome"],
        because=tuple(case_data.get("because", ())),
        by_eyes=bool(case_data.get("eyes")),
        plan=case_data.get("plan", project.plan),
        files={**project.files, **case_data.get("base", {})},
        script=_script(file, case_data, work),
        is_fixed="fix" in case_data,
    )


def _refusal(case_data: Mapping[str, Any], projects: Mapping[str, Project], *, is_lie: bool) -> str | None:
    """Return what is wrong with a case; None if it is valid."""
    for key in sorted(set(case_data) - _KNOWN):
        return f'a case has no key "{key}"'
    for key in _NEEDED:
        if key not in case_data:
            return f'it lacks "{key}"'
    for key in sorted(_TEXTS & set(case_data)):
        if not isinstance(case_data[key], str):
            return f'"{key}" takes text'
    project = projects.get(case_data["project"])
    if project is None:
        return f'there is no project "{case_data["project"]}"'
    if case_data["outcome"] not in (("caught", "sign-off") if is_lie else ("passes",)):
        return f'"{case_data["outcome"]}" is no outcome of {"a lie" if is_lie else "honest work"}'
    if is_lie and not case_data.get("because"):
        return "a lie says by which words it is caught"
    if case_data["outcome"] == "sign-off" and "unsettled" not in case_data:
        return "a sign-off says why no machine settles it"
    if case_data.get("work", "none") not in project.work:
        return f'the project has no work that is called "{case_data["work"]}"'
    return None


def _script(file: Path, case_data: Mapping[str, Any], work: Mapping[str, str]) -> str:
    """Return the script of all agents: the project's work, then what the case adds."""
    before = [{"write": path, "text": text} for path, text in work.items()]
    acts = {"verify": list(_BELIEVES), **case_data, "acts": [*before, *case_data.get("acts", [])]}
    turns = [{"role": role, "acts": acts[key]} for key, role in _TURNS.items() if key in acts]
    script = tomlkit.dumps({"turn": turns})
    parsed(script, name=file.name)
    return script


def _project(file: Path, *, typed: bool = False) -> Project:
    data = _table(file, typed=typed)
    for key in _PROJECT:
        if key not in data:
            raise _wrong(file, f'it lacks "{key}"')
    work = {"none": {}, **data.get("work", {})}
    return Project(_TYPED if typed else file.stem, data["tests"], data["plan"], data["files"], work)


def _table(file: Path, *, typed: bool = False) -> dict[str, Any]:
    try:
        text = file.read_text(encoding="utf-8")
        for pattern, new in _TYPESCRIPT if typed else ():
            text = re.sub(pattern, new, text, flags=re.MULTILINE)
        return tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise _wrong(file, str(error)) from error


def _wrong(file: Path, what: str) -> ScriptInvalid:
    return ScriptInvalid(
        f"{file}: {what}",
        why="A case that is parsed only in part would test something else.",
        next_step="docs/reference/lies.md describes the files of a case.",
    )


def chosen(cases: tuple[Case, ...], kind: str | None, only: str | None) -> Iterator[Case]:
    """Yield the cases of a kind of project whose names contain a word."""
    for case in cases:
        if kind in (None, case.project.kind) and (only is None or only in case.name):
            yield case
