"""Try asbuilt on one real project: settle its tests, run the honest work, run the broken change."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
import tomllib
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from tests.real.counts import ran
from tests.real.desk import Desk
from tests.real.sources import Unobtainable, unpack
from tests.real.table import BROKEN, HONEST, Project

_SETTLE_LIMIT_S: Final = 600
_SHORT_S: Final = 60
_LAST: Final = 6


@dataclass(slots=True, kw_only=True)
class Result:
    """What happened to one project; `why` says it in asbuilt's own words where it did not land."""

    name: str
    kind: str
    registry: str
    fresh: bool = False
    suites: list[str] = field(default_factory=list)
    setup: str = ""
    questions: int = 0
    baseline: str = ""
    baseline_ran: int | None = None
    agent_ran: int | None = None
    agent_exit: int | None = None
    honest: str = "not run"
    broken: str = "not run"
    why: str = ""
    broken_why: str = ""
    bare_s: float | None = None
    proof_s: list[float] = field(default_factory=list)
    executions: list[int] = field(default_factory=list)
    disk_mb: float = 0.0
    wall_s: float = 0.0

    @property
    def right(self) -> bool:
        """Whether the honest work landed, or stopped as it should, and the broken change did not land."""
        return self.honest in {"landed", "stopped, rightly"} and self.broken == "refused"

    def as_json(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return asdict(self)


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
        _honest(project, desk, result)
        _broken(project, desk, result)
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
    git = desk.repo / ".git"
    for path, text in project.files.items():
        _write(desk.repo / path, text)
    commands = [] if git.is_dir() else [["init", "-q", "-b", "main"]]
    commands += [["config", "user.name", "Ann"], ["config", "user.email", "ann@example.com"]]
    # What the archive has belongs to the project, even where its .gitignore names it.
    commands += [["add", "-A", "-f"], ["commit", "-q", "--allow-empty", "-m", "As published"]]
    if not git.is_dir():
        commands.append(["tag", "v1.0.0"])
    for words in commands:
        subprocess.run(["git", *words], cwd=desk.repo, env=desk.environ(), check=True, capture_output=True)
    _write(desk.repo / f"plans/{HONEST}.md", project.honest_plan())
    _write(desk.repo / f"plans/{BROKEN}.md", project.broken_plan())
    for words in (["add", "-f", "plans"], ["commit", "-q", "-m", "Plans"]):
        subprocess.run(["git", *words], cwd=desk.repo, env=desk.environ(), check=True, capture_output=True)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.lstrip("\n"), encoding="utf-8")


def _settle(desk: Desk, result: Result) -> str:
    """Answer the one question about the tests; return the settled command, or "" where there is none."""
    settled = desk.types("asbuilt", "doctor", "--tests", "--save", limit_s=_SETTLE_LIMIT_S)
    if "No such option" in settled.output:
        return _settle_as_hinted(desk, result)
    result.questions = 1
    found = _settled(desk.repo)
    if not found:
        result.why = _last(settled.output)
    return found


def _settle_as_hinted(desk: Desk, result: Result) -> str:
    """Type the command that a refused run names."""
    ended = desk.types("asbuilt", "run", HONEST, "--finish", "--auto", "--agent", "scripted", "--script",
                       str(_nothing(desk)), limit_s=_SETTLE_LIMIT_S)  # fmt: skip
    hint = re.search(r'asbuilt config set checks\.tests\s+"([^"]+)"', re.sub(r"\s+", " ", ended.output))
    if hint is None:
        result.why = _last(ended.output)
        return ""
    result.questions = 1
    desk.types("asbuilt", "config", "set", "checks.tests", hint[1], limit_s=_SHORT_S)
    return hint[1]


def _nothing(desk: Desk) -> Path:
    script = desk.folder / "nothing.toml"
    script.write_text('[[turn]]\nacts = [{ say = "Nothing." }]\n', encoding="utf-8")
    return script


def _settled(repo: Path) -> str:
    """Return the first settled test command of a repository's asbuilt.toml."""
    file = repo / "asbuilt.toml"
    if not file.exists():
        return ""
    checks = tomllib.loads(file.read_text(encoding="utf-8")).get("checks", {})
    suites = checks.get("suites") or [{"command": checks.get("tests", "")}]
    first = suites[0]
    folder = first.get("folder", "")
    return f"cd {folder} && {first['command']}" if folder not in {"", "."} else str(first["command"])


def _honest(project: Project, desk: Desk, result: Result) -> None:
    suite = _settle(desk, result)
    _commit_settings(desk)
    script = desk.folder / "honest.toml"
    script.write_text(project.honest_script(suite or "true"), encoding="utf-8")
    ended = desk.types("asbuilt", "run", HONEST, "--finish", "--auto", "--agent", "scripted", "--script",
                       str(script), limit_s=project.limit_s)  # fmt: skip
    events = _events(desk, HONEST)
    _measure(desk, result, events)
    if any(event["kind"] == "landing.done" for event in events):
        result.honest, result.why = "landed", ""
        return
    result.honest = "stopped"
    result.why = _reason(events) or result.why or _last(ended.output)
    whole = result.why + ended.output
    if project.expect != "landed" and project.expect in whole:
        result.honest = "stopped, rightly"


def _commit_settings(desk: Desk) -> None:
    """Commit what the conversation saved, where it has not."""
    environ = desk.environ()
    subprocess.run(["git", "add", "-A", "--", ":(glob)asbuilt.toml"], cwd=desk.repo, env=environ, check=False,
                   capture_output=True)  # fmt: skip
    subprocess.run(["git", "commit", "-q", "-m", "Settings"], cwd=desk.repo, env=environ, check=False,
                   capture_output=True)  # fmt: skip


def _broken(project: Project, desk: Desk, result: Result) -> None:
    held = (desk.repo / project.broken.file).read_text(encoding="utf-8")
    if project.broken.old not in held:
        result.broken, result.broken_why = "not run", f"{project.broken.file} has no {project.broken.old!r}"
        return
    script = desk.folder / "broken.toml"
    script.write_text(project.broken_script(), encoding="utf-8")
    ended = desk.types("asbuilt", "run", BROKEN, "--finish", "--auto", "--agent", "scripted", "--script",
                       str(script), limit_s=project.limit_s)  # fmt: skip
    events = _events(desk, BROKEN)
    landed = any(event["kind"] == "landing.done" for event in events)
    judged = any(event["kind"] == "checks.done" and event["data"]["outcome"] == "FAIL" for event in events)
    if landed:
        result.broken = "LANDED"
    elif judged or result.honest != "landed":
        result.broken = "refused"
    else:
        result.broken = "stopped"
    result.broken_why = "" if landed else _reason(events) or _last(ended.output)


def _events(desk: Desk, plan: str) -> list[dict[str, Any]]:
    """Return the newest run's events of a plan."""
    logged = desk.types("asbuilt", "log", plan, "--json", limit_s=_SHORT_S)
    try:
        events: list[dict[str, Any]] = json.loads(logged.output.strip().splitlines()[-1])["events"]
    except (ValueError, IndexError, KeyError):
        return []
    newest = [event["data"].get("run") for event in events if event["kind"] == "run.requested"][-1:]
    return [event for event in events if [event["data"].get("run")] == newest]


def _measure(desk: Desk, result: Result, events: list[dict[str, Any]]) -> None:
    """Read suites, setup, counts, times and executions from the journal and from the agent's own record."""
    for event in events:
        data = event["data"]
        match event["kind"]:
            case "tests.resolved":
                suites = data.get("suites") or [{"command": data.get("command")}]
                result.suites = [_suite(suite) for suite in suites if suite.get("command")]
            case "setup.done":
                result.setup = data.get("command") or "none"
            case "baseline.done":
                result.baseline, result.baseline_ran = data.get("why", ""), data.get("ran")
    _agent(desk, result)
    kept: dict[str, float] = {}
    for event in events:
        phase = event["data"].get("phase", "")
        if event["kind"] == "tree.kept":
            kept[phase] = _time(event)
        if event["kind"] == "checks.done" and phase in kept:
            result.proof_s.append(round(_time(event) - kept[phase], 1))
            result.executions.append(_executions(desk, result, kept[phase], _time(event)))


def _suite(suite: dict[str, Any]) -> str:
    folder = suite.get("folder") or "."
    return suite["command"] if folder == "." else f"{folder}: {suite['command']}"


def _agent(desk: Desk, result: Result) -> None:
    """Read what the agent's own run of the suite said, and how long it took."""
    for file in sorted(desk.state.glob("runs/*/attempts/*.1.1/events.jsonl")):
        events = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        for called, said in zip(events, events[1:], strict=False):
            if called["kind"] == "called" and called.get("tool") == "run" and said["kind"] == "said":
                result.agent_ran = ran(said["text"])
                code = re.match(r"exit (-?\d+)", said["text"])
                result.agent_exit = int(code[1]) if code else None
                result.bare_s = round(said["passed_s"] - called["passed_s"], 1)
                if result.agent_exit != 0:
                    result.why = _last(said["text"])


def _executions(desk: Desk, result: Result, begin: float, end: float) -> int:
    """Count sandboxed commands of a phase's proof that lasted at least half as long as the bare suite."""
    least = (result.bare_s or 0.0) / 2
    return sum(1 for start in desk.started if begin <= start.at <= end and start.seconds >= least)


def _time(event: dict[str, Any]) -> float:
    return datetime.fromisoformat(event["at"]).timestamp()


def _reason(events: list[dict[str, Any]]) -> str:
    reasons = [
        event["data"].get("reason") or event["data"].get("why") or ""
        for event in events
        if event["kind"] in {"run.ended", "run.parked"}
    ]
    return next((reason for reason in reversed(reasons) if reason), "")


def _last(output: str) -> str:
    lines = [line.rstrip() for line in output.strip().splitlines() if line.strip()]
    return "\n".join(lines[-_LAST:])
