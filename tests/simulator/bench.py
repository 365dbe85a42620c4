"""Checks without commands: a tree shows what is in it. In place of `CheckEnvironments`."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from asbuilt.flows.environments.results import Ran
from asbuilt.ports import Ended

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from asbuilt.policy.sandbox.rules import Level
    from asbuilt.ports import Command
    from asbuilt.proof.projects.model import Setup
    from asbuilt.proof.runner_command_lines import Call
    from tests.simulator.model_git import Files, Model


class Bench:
    """A check environment that is always free."""

    def __init__(self, _folder: object, repository: Model, _processes: object, **_terms: object) -> None:
        self._model = repository
        self._setup: Setup

    @contextmanager
    def take(self, setup: Setup) -> Iterator[Bench]:
        """Lend it for a setup."""
        self._setup = setup
        self._model.stage.point()
        yield self

    def set_up(self, tree: str, *, is_trusted: bool = True) -> Ran | None:
        """Make ready what nobody has made ready before."""
        del is_trusted
        command = self._setup.command
        if command is None or command in self._model.ready:
            return None
        self._model.stage.sleep(20.0)
        self._model.ready.add(command)
        return Ran(command, tree, self._setup.digest, _ended(0, ""))

    def limit_for(self, before_s: float) -> int:
        """Nothing takes long here."""
        return int(3 * before_s) + 60

    @property
    def notes(self) -> tuple[str, ...]:
        """Nothing is to be known of it."""
        return ()

    @property
    def report(self) -> str:
        """Where a runner would write its report; this one writes none."""
        return "report.xml"

    def run(
        self,
        tree: str,
        command: str,
        *,
        over: Mapping[str, bytes | None] | None = None,
        call: Call | None = None,
        limit_s: float | None = None,
        folder: str = "",
        keeps_cache: bool = False,
        modules: tuple[str, ...] = (),
    ) -> Ran:
        """Run a command on a tree; no runner here can be called in another way."""
        assert (call, modules) == (None, ()), (call, modules)
        del limit_s, folder, keeps_cache
        self._model.stage.sleep(3.0)
        laid = {**self._model.trees[tree], **(over or {})}
        files = {path: content for path, content in laid.items() if content is not None}
        is_test = command == "run-tests"
        passes = passes_tests(files) if is_test else passes_check(files, command)
        self._model.shown.add((tree, command, passes))
        self._model.stage.point()
        return Ran(
            command, tree, self._setup.digest, _ended(int(not passes), _summary(files) if is_test else "")
        )

    def forget(self) -> None:
        """Let it be made ready anew."""
        self._model.ready.clear()


def passes_tests(files: Files) -> bool:
    """Tell whether the tests would pass."""
    return "broken" not in files and sum(name.startswith("odd-") for name in files) <= 1


def passes_check(files: Files, command: str) -> bool:
    """Tell whether a phase's own check would pass: `check NAME`."""
    return files.get(command.removeprefix("check ")) == b"right"


def _summary(files: Files) -> str:
    ran = 3 + sum(content == b"right" for content in files.values())
    if passes_tests(files):
        return f"{ran} passed in 0.1s\n"
    return f"FAILED tests/test_it.py::test_whole\n1 failed, {ran} passed in 0.1s\n"


def _ended(code: int, output: str) -> Ended:
    return Ended(
        exit_code=code, output=output.encode(), truncated=False, duration_s=1.0, sandbox_level="bwrap"
    )


class Ring:
    """What holds commands, as it would be probed. The port `Processes`."""

    def __init__(self, level: Level) -> None:
        self._level = level

    @property
    def level(self) -> Level:
        """The level."""
        return self._level

    def ending(self, _when: Callable[[], bool]) -> Ring:
        """Commands take no time here, so that none is ended."""
        return self

    @property
    def can_place(self) -> bool:
        """Whether folders can have other paths."""
        return self._level == "bwrap"

    def can_overlay(self, folder: Path) -> bool:
        """Nothing is mounted on the bench."""
        raise NotImplementedError(folder)

    def run(self, command: Command) -> Ended:
        """Everything runs on the bench."""
        raise NotImplementedError(command)
