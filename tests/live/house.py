"""A person with a plan, a home and two agents installed, who types commands. Nothing is configured.

The one rule: nothing of our environment gets in; commands, worker, hosts and agents see this person's only.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from asbuilt.agents.activity import is_alive
from asbuilt.journal.engine.liveness import holder
from tests.contracts.attempts import until
from tests.journeys.shop import PLAN
from tests.live.speech import SPEECHES
from tests.live.stage import git
from tests.live.starting import household
from tests.model import Call, Say, answer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from tests.model import Model
    from tests.model.steps import Step

WORKS, JUDGES = "works", "judges"
"""The scripts of the two agents."""
HERE = r"{{re:Primary working directory: (\S+)}}"
"""Where Claude Code says that it works."""


class House:
    """One person's machine."""

    def __init__(self, room: Path, model: Model, *, verifier: str) -> None:
        self.model = model
        self.verifier = SPEECHES[verifier]
        self.shop, self.state = room / "shop", room / "state"
        urls = {"claude": model.url(WORKS), verifier: model.url(JUDGES)}
        self.environ = {
            **household(room / "home", room / "programs", urls),
            "ASBUILT_HOME": str(self.state),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "ASBUILT_RUN_LANES": "1",
        }
        (self.shop / "plans").mkdir(parents=True)
        (self.shop / "plans" / "greet.md").write_text(PLAN, encoding="utf-8")
        git(self.shop, "init", "--quiet", "--initial-branch=main")
        git(self.shop, "config", "user.name", "Ada")
        git(self.shop, "config", "user.email", "ada@localhost")
        git(self.shop, "add", ".")
        git(self.shop, "commit", "--quiet", "--message=start")

    def type(self, *arguments: str) -> tuple[int, str]:
        """Type a command: its exit code and everything that it said."""
        process = self._begin(*arguments)
        said, _ = process.communicate(timeout=300)
        return process.returncode, said

    @contextmanager
    def typed(self, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        """Begin a command; it ends with the block, also when a claim in the block is false."""
        with self._begin(*arguments) as process:
            try:
                yield process
            finally:
                process.kill()

    def _begin(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "asbuilt", *arguments],
            cwd=self.shop,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def log(self) -> list[str]:
        """List the subjects of main, newest first."""
        return git(self.shop, "log", "--format=%s", "main").splitlines()

    def kill(self, who: str, attempt: str) -> None:
        """Kill -9 the worker, or the host or the agent of an attempt: `2a.1`, its verifier `2a.1v`."""
        pid = holder(self.state / "worker.lock")
        if who != "worker":
            (folder,) = self.state.glob(f"runs/*/attempts/*.{attempt}")
            host = json.loads((folder / "host.json").read_bytes())
            pid = host["pid"] if who == "host" else host["children"][0][0]
        assert pid is not None
        os.kill(pid, signal.SIGKILL)

    def close(self) -> None:
        """End the worker and whoever still works for it."""
        pid = holder(self.state / "worker.lock")
        if pid:
            os.kill(pid, signal.SIGKILL)
        for folder in self.state.glob("runs/*/attempts/*"):
            (folder / "cancel").touch()
        until(lambda: not any(map(is_alive, self.state.glob("runs/*/attempts/*"))), seconds=120)

    # What the models say.

    def writes(self, phase: str, name: str, text: str) -> tuple[Step, ...]:
        """Write a file as claude, and say that it is done."""
        wrote = Call("Write", {"file_path": f"{HERE}/{name}", "content": text})
        return answer(wrote, when=phase), answer(Say("done"), when=phase)

    def runs(self, phase: str, command: str) -> tuple[Step, ...]:
        """Run a command as claude, and say that it is done."""
        ran = SPEECHES["claude"].runs(command)
        return answer(ran, when=phase), answer(Say("done"), when=phase)

    def judges(self, phase: str, *evidence: Mapping[str, Any] | None) -> tuple[Step, ...]:
        """Judge as the verifier: an item passes by its evidence, and fails without."""
        rows = [
            {
                "item": 1 + at,
                "outcome": "FAIL" if shown is None else "PASS",
                "why": "as scripted",
                "evidence": [] if shown is None else [shown],
            }
            for at, shown in enumerate(evidence)
        ]
        judged = self.verifier.judges({"items": rows})
        return answer(judged, when=phase), answer(Say("judged"), when=phase)
