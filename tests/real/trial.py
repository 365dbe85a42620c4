"""Try asbuilt on one real project: settle its tests, run the honest work, run the broken change."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
import tomllib
from typing import TYPE_CHECKING, Final

from tests.real.desk import Desk
from tests.real.result import (
    Event,
    Result,
    landed,
    last_lines,
    measure,
    read_agent,
    reason,
    refused,
    run_of,
)
from tests.real.sources import Unobtainable, unpack
from tests.real.table import BROKEN, HONEST, Project

if TYPE_CHECKING:
    from pathlib import Path

_SETTLE_LIMIT_S: Final = 600
_SETTLE_LINES: Final = 15
_SHORT_S: Final = 60
# Archives of registries leave out the .gitignore that every such repository has.
_IGNORED: Final = """\
__pycache__/
*.egg-info/
*.so
.coverage*
.hypothesis/
.nyc_output/
.pytest_cache/
.tap/
.venv/
build/
coverage/
node_modules/
target/
*.o
*.a
"""


def attempt(project: Project, cache: Path, programs: Path) -> Result:
    """Do the whole trial of one project, from nothing."""
    began = time.monotonic()
    folder = cache / "work" / project.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    result = Result(
        name=project.name, kind=project.kind, registry=project.source.registry, fresh=project.fresh
    )
    desk = Desk(folder, programs)
    try:
        unpack(project.source, cache, desk.repo)
        _plant(project, desk)
        suite = _settle(desk, result) or "true"
        _run_honest(project, desk, result, suite)
        _run_broken(project, desk, result, suite)
    except Unobtainable as error:
        result.honest, result.why = "not obtainable", str(error)
    finally:
        desk.leave()
    result.disk_mb = round(desk.size_mb(), 1)
    result.wall_s = round(time.monotonic() - began, 1)
    (folder / "result.json").write_text(json.dumps(result.as_json(), indent=1), encoding="utf-8")
    return result


def _plant(project: Project, desk: Desk) -> None:
    """Make the files a repository with its plans, as a team would have it."""
    new = not (desk.repo / ".git").is_dir()
    for path, text in project.files.items():
        _write(desk.repo / path, text)
    if new:
        _git(desk, "init", "-q", "-b", "main")
        if not (desk.repo / ".gitignore").exists():
            _write(desk.repo / ".gitignore", _IGNORED)
    _git(desk, "config", "user.name", "Ann")
    _git(desk, "config", "user.email", "ann@example.com")
    # What the archive has belongs to the project, even where its .gitignore names it.
    _git(desk, "add", "-A", "-f")
    _git(desk, "commit", "-q", "--allow-empty", "-m", "As published")
    if new:
        _git(desk, "tag", f"v{project.source.name.partition('==')[2] or '1.0.0'}")
    _write(desk.repo / f"plans/{HONEST}.md", project.honest_plan())
    _write(desk.repo / f"plans/{BROKEN}.md", project.broken_plan())
    _git(desk, "add", "-f", "plans")
    _git(desk, "commit", "-q", "-m", "Plans")


def _git(desk: Desk, *words: str) -> None:
    git = shutil.which("git") or "git"
    subprocess.run([git, *words], cwd=desk.repo, env=desk.environ(), check=True, capture_output=True)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.lstrip("\n"), encoding="utf-8")


def _settle(desk: Desk, result: Result) -> str:
    """Answer the one question about the tests; return the settled command, or "" where there is none."""
    shown = desk.types("asbuilt", "doctor", "--tests", "--save", limit_s=_SETTLE_LIMIT_S).output
    (desk.folder / "settle.log").write_text(shown, encoding="utf-8")
    result.questions = 1
    found = _settled(desk.repo)
    if not found:
        result.why = last_lines(shown, _SETTLE_LINES)
    return found


def _settled(repo: Path) -> str:
    """Return the first settled test command of a repository's asbuilt.toml."""
    file = repo / "asbuilt.toml"
    if not file.exists():
        return ""
    checks = tomllib.loads(file.read_text(encoding="utf-8")).get("checks", {})
    suites = checks.get("suites") or [{"command": checks.get("tests", "")}]
    folder, command = suites[0].get("folder", ""), str(suites[0]["command"])
    return command if folder in {"", "."} else f"cd {folder} && {command}"


def _run(desk: Desk, plan: str, script: Path, limit_s: float) -> str:
    """Run a plan to its end, unattended, and return all that was shown."""
    words = ["asbuilt", "run", plan, "--finish", "--auto", "--agent", "scripted", "--script", str(script)]
    return desk.types(*words, limit_s=limit_s).output


def _run_honest(project: Project, desk: Desk, result: Result, suite: str) -> None:
    if (desk.repo / "asbuilt.toml").exists():
        _git(desk, "add", "asbuilt.toml")
        _git(desk, "commit", "-q", "--allow-empty", "-m", "Settings")
    script = desk.folder / "honest.toml"
    script.write_text(project.honest_script(suite), encoding="utf-8")
    shown = _run(desk, HONEST, script, project.limit_s)
    (desk.folder / "honest.log").write_text(shown, encoding="utf-8")
    events = events_of(desk, HONEST)
    measure(desk, result, events)
    if landed(events):
        result.honest, result.why = "landed", ""
        return
    result.honest = "stopped"
    # Where no command could be settled, what `doctor` showed is the reason.
    result.why = result.why or reason(events) or last_lines(shown)
    if project.expect != "landed" and project.expect in result.why + shown:
        result.honest = "stopped, rightly"


def _run_broken(project: Project, desk: Desk, result: Result, suite: str) -> None:
    held = (desk.repo / project.broken.file).read_text(encoding="utf-8")
    if project.broken.old not in held:
        result.broken_why = f"{project.broken.file} has no {project.broken.old!r}"
        return
    script = desk.folder / "broken.toml"
    script.write_text(project.broken_script(suite), encoding="utf-8")
    shown = _run(desk, BROKEN, script, project.limit_s)
    (desk.folder / "broken.log").write_text(shown, encoding="utf-8")
    events = events_of(desk, BROKEN)
    own = read_agent(desk, run_of(events))
    result.broken_exit = own[0] if own is not None else None
    if landed(events):
        result.broken = "breaks nothing" if result.broken_exit == 0 else "LANDED"
        return
    # Only a check that failed has refused the change; any other end never judged it.
    result.broken = "refused" if refused(events) else "not judged"
    result.broken_why = reason(events) or last_lines(shown)


def events_of(desk: Desk, plan: str) -> list[Event]:
    """Return the newest run's events of a plan."""
    logged = desk.types("asbuilt", "log", plan, "--json", limit_s=_SHORT_S)
    try:
        events: list[Event] = json.loads(logged.output.strip().splitlines()[-1])["events"]
    except (ValueError, IndexError, KeyError):
        return []
    newest = [event["data"].get("run") for event in events if event["kind"] == "run.requested"][-1:]
    return [event for event in events if [event["data"].get("run")] == newest]
