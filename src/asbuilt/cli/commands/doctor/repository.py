"""Probe git, the agents on PATH, the repository around a folder, and its tests.

Rules: nothing in the checkout is written. An agent's program gets only PATH and an empty home, and is killed
after 5 s.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import structs

from asbuilt.agents.roster import lacking
from asbuilt.agents.sandboxed_commands import SandboxProcesses
from asbuilt.cli.commands.doctor.facts import Agent, AgentsFacts, ErrorFacts, GitFacts, SuiteFacts, Tried
from asbuilt.errors import AsbuiltError, GateStopped, GitFailed, NotFound, SandboxUnavailable
from asbuilt.flows.checks.project import project_of
from asbuilt.flows.environments.check_environment import CheckEnvironment, CheckEnvironments
from asbuilt.flows.environments.limits_and_variables import Given
from asbuilt.flows.environments.results import Ran as RanThere
from asbuilt.git.commits import author_of, read_commit
from asbuilt.git.first_use import first_commit
from asbuilt.git.locks import need_writable
from asbuilt.git.repository import Repository, checkouts, current_branch, open_repository, operations, resolve
from asbuilt.library.repository_discovery import find_repository
from asbuilt.policy.agent_kinds import KINDS
from asbuilt.policy.sandbox.variables import passed
from asbuilt.proof.failure import Failure, What, explained
from asbuilt.proof.judgement import is_red, judge_setup, judge_tests
from asbuilt.proof.projects.finding import has_test_files
from asbuilt.proof.projects.model import Suite
from asbuilt.proof.projects.resolving import resolve_setup
from asbuilt.proof.test_command_trials import Ran, Seen, Way
from asbuilt.settings import Layer, Settings, SuiteTable

_TIMEOUT_S: Final = 5
_OUTPUT_BYTES: Final = 4_096
_PLAIN: Final = re.compile(
    r"(?:[A-Za-z_]\w*=[^\s'\"$`]* +)*(?P<program>[A-Za-z0-9][\w.+-]*)(?: [^;&|()`$<>]*)?"
)
_BUILTIN: Final = (
    "alias", "case", "cd", "command", "echo", "eval", "exec", "exit", "export", "false", "for", "if",
    "printf", "read", "set", "source", "test", "time", "trap", "true", "type", "ulimit", "umask", "until",
    "wait", "while",
)  # fmt: skip
"""Words with which a line of the shell starts, and no program has to."""
_VERSION: Final = re.compile(r"\d+\.\d+[0-9A-Za-z.+-]*")


def look_for_agents(environ: Mapping[str, str]) -> AgentsFacts:
    """Return the agents on PATH, and those that this version supports."""
    path = environ.get("PATH", os.defpath)
    looked_for = [kind for kind in KINDS.values() if kind.program]
    programs = {tool.name: place for tool in looked_for if (place := shutil.which(tool.program, path=path))}
    return AgentsFacts(
        looked_for=tuple(kind.name for kind in looked_for),
        found=tuple(
            Agent(name=name, version=version_of(program, path)) for name, program in programs.items()
        ),
        driven=tuple(KINDS),
        lacking=tuple((kind.own, kind.program, kind.install) for kind in lacking(KINDS, path)),
    )


def version_of(program: str, path: str) -> str | None:
    """Return the version that a program prints; None if it prints none within 5 s."""
    # The output goes to a file: a surviving child process would hold a pipe open forever.
    with (
        tempfile.TemporaryDirectory(prefix="asbuilt-home-", ignore_cleanup_errors=True) as home,
        tempfile.TemporaryFile() as output,
    ):
        try:
            process = subprocess.Popen(  # noqa: S603 - a program of the user's, by PATH
                [program, "--version"],
                cwd=home,
                env={"PATH": path, "HOME": home},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError:
            return None
        try:
            process.wait(_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return None
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        found = _VERSION.search(output.read(_OUTPUT_BYTES).decode("utf-8", "replace"))
    return found[0] if found and process.returncode == 0 else None


_BRANCH: Final = "refs/heads/"
_BARE: Final = ErrorFacts(
    what="this is a bare repository",
    why="Agents and checks work on files; a bare repository has none.",
    next_step="`git clone . ../checkout`",
)


def look_at_git(start: Path, environ: Mapping[str, str]) -> GitFacts:
    """Return the git version, and the state of the repository."""
    program = shutil.which("git", path=environ.get("PATH"))
    if program is None:
        return GitFacts(version=None)
    version = version_of(program, environ.get("PATH", os.defpath)) or ""
    try:
        repository = open_repository(start)
        if repository.root == repository.git_dir:
            return GitFacts(version=version, repository=start.name, error=_BARE)
        return _in_repository(repository, version)
    except NotFound:
        return GitFacts(version=version)
    except GitFailed as error:
        return GitFacts(version=version, repository=start.name, error=error_facts(error))


def look_at_tests(settings: Settings, environ: Mapping[str, str]) -> SuiteFacts:
    """Return the test command, who set it, and its program if that is not on PATH."""
    several = ", ".join(set_suites(settings))
    chosen = settings.chosen["checks.suites" if several else "checks.tests"]
    setup = settings.chosen["checks.setup"].origin
    return SuiteFacts(
        command=settings.text("checks.tests"),
        origin=chosen.origin.where,
        setup_origin="" if setup.layer is Layer.DEFAULT else setup.where,
        several=several,
        absent=_absent(settings.text("checks.tests"), environ),
    )


def set_suites(settings: Settings) -> Iterator[str]:
    """Yield the suites that the settings name, as shown to people."""
    chosen = settings.chosen["checks.suites"].value
    for suite in chosen if isinstance(chosen, tuple) else ():
        if isinstance(suite, SuiteTable):
            yield Suite(suite.folder, suite.command).shown


def _absent(command: str, environ: Mapping[str, str]) -> str:
    """Return the program of a plain command if it is not on PATH; a line of shell words is not judged."""
    found = _PLAIN.fullmatch(command)
    program = "" if found is None else found["program"]
    is_known = program in _BUILTIN or shutil.which(program, path=environ.get("PATH", os.defpath))
    return "" if not program or is_known else program


def try_tests(
    facts: SuiteFacts,
    start: Path,
    *,
    setup: str | None,
    hidden: Path,
    given: Given = Given(),  # noqa: B008  frozen
) -> SuiteFacts:
    """Run the tests as a run would: in the sandbox, on a clean checkout of the last commit.

    `hidden` is the state folder, which no check sees; `given` is what checks get besides the checkout.
    """
    repository = open_repository(start)
    commit = resolve(repository, "HEAD")
    if not facts.command or commit is None:
        return facts
    tree = read_commit(repository, commit).tree
    with tempfile.TemporaryDirectory(prefix="asbuilt-doctor-", ignore_cleanup_errors=True) as made:
        folder = Path(made).resolve()
        processes = SandboxProcesses(
            scratch=folder / "scratch", hidden=(hidden,), environment=passed(os.environ)
        )
        try:
            environments = CheckEnvironments(
                folder / "setups", repository, processes, history=commit, given=given
            )
            project = project_of(repository, tree)
            wanted = resolve_setup(setup, project, (Suite("", facts.command),))
            with environments.take(wanted) as environment:
                tried = _tried(environment, tree, facts.command, has_files=has_test_files(project))
        except (GitFailed, SandboxUnavailable, GateStopped) as error:
            tried = Tried(outcome="INDETERMINATE", why=error.what)
    return structs.replace(facts, tried=tried)


def _tried(environment: CheckEnvironment, tree: str, command: str, *, has_files: bool) -> Tried:
    made = environment.set_up(tree)
    if made is not None and made.ended.exit_code != 0:
        judged = judge_setup(made.ended.exit_code, made.cut_off)
        missing = _missing("setup", made)
        return Tried(outcome=judged.outcome, why=f"setup: {judged.why}", in_setup=True, missing=missing)
    ran = environment.run(tree, command)
    ended, counts = ran.ended, ran.counts
    judged = judge_tests(ended.exit_code, counts, truncated=ended.truncated, baseline=counts, cut=ran.cut_off)
    none_yet = Seen(Way(()), (Ran(ended.exit_code, counts),), has_files=has_files).has_none_yet
    failing = counts.failed if counts else 0
    return Tried(
        outcome=judged.outcome,
        why=judged.why,
        failing=failing,
        is_red=counts is not None and is_red(counts.ran, failing),
        none_yet=none_yet,
        missing=_missing("tests", ran),
    )


def _missing(what: What, ran: RanThere) -> str:
    failure = Failure(what, ran.command, exit_code=ran.ended.exit_code)
    return explained(failure, ran.ended.output).missing


def error_facts(error: AsbuiltError) -> ErrorFacts:
    """Convert an error to a fact."""
    return ErrorFacts(what=error.what, why=error.why, next_step=error.next_step)


def _in_repository(repository: Repository, version: str) -> GitFacts:
    here = next(
        (checkout for checkout in checkouts(repository) if checkout.git_dir == repository.git_dir), None
    )
    changed = here.git.run("status", "--porcelain=v1", "-z", "--no-renames").fields if here else []
    branch = current_branch(repository)
    known = find_repository(repository.root)
    try:
        need_writable(repository)
        author_of(repository)
        failure = None
    except (GateStopped, GitFailed) as error:
        failure = error_facts(error)
    has_commits = resolve(repository, "HEAD") is not None
    return GitFacts(
        version=version,
        error=failure,
        repository=known.name if known else repository.root.name,
        branch=branch.removeprefix(_BRANCH) if branch else None,
        has_commits=has_commits,
        first_commit="" if has_commits else first_commit(repository.root),
        changed=len(changed),
        operations=operations(repository.git_dir),
    )
