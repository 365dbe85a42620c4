"""Build what the demo plays on: a folder with a repository, a plan, a script, and a state folder of its own.

The one rule: nothing of the user's is seen or touched, neither settings nor git's, journal nor worker.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Final

from asbuilt.agents.attempts import FolderAttempts
from asbuilt.errors import GitFailed, NotFound

if TYPE_CHECKING:
    from collections.abc import Mapping

PLAN: Final = "rate-limit"
_SLEEP: Final = re.compile(r"sleep = ([\d.]+)")
_GONE_WITHIN_S: Final = 15.0
_FILES: Final = {
    "asbuilt.toml": """\
[checks]
tests = "python3 -m unittest discover tests"
""",
    "shop.py": '''\
"""The shop's API: a path in, a status out."""


def answer(path):
    return 200 if path.startswith("/v1/") else 404
''',
    "tests/test_shop.py": """\
import unittest

from shop import answer


class ShopTest(unittest.TestCase):
    def test_a_known_path(self):
        self.assertEqual(answer("/v1/cart"), 200)

    def test_an_unknown_path(self):
        self.assertEqual(answer("/cart"), 404)

    def test_a_busy_day(self):
        self.assertEqual([answer("/v1/cart") for _ in range(9)], [200] * 9)
""",
}
_GIT: Final = (
    ("init", "--quiet", "--initial-branch=main"),
    ("config", "user.name", "Demo"),
    ("config", "user.email", "demo@example.invalid"),
    ("add", "."),
    ("commit", "--quiet", "--message=A shop without limits"),
)


class Scene:
    """The folder of one demo; nothing of it is left elsewhere."""

    def __init__(self, folder: Path, environ: Mapping[str, str]) -> None:
        self.shop = folder / "shop-api"
        self.script = folder / "agent.toml"
        self.state = folder / "state"
        self.environ = {name: value for name, value in environ.items() if not _is_personal(name)} | {
            # The Python that runs asbuilt is the one that is there for certain.
            "PATH": os.pathsep.join((str(Path(sys.executable).parent), environ.get("PATH", os.defpath))),
            "ASBUILT_HOME": str(self.state),
            "ASBUILT_AGENTS_IMPLEMENT": "scripted",
            "ASBUILT_RING_REQUIRED": "false",
            "ASBUILT_LANDING_SIGN": "never",
            "XDG_CONFIG_HOME": str(folder / "config"),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
        }

    def build(self, *, pace: float) -> None:
        """Write the repository with its plan, and the script with its pauses made shorter or longer."""
        script = _SLEEP.sub(lambda sleep: f"sleep = {float(sleep[1]) * pace}", _own("agent.toml"))
        self.script.write_text(script, encoding="utf-8")
        for name, text in {**_FILES, f"plans/{PLAN}.md": _own(f"{PLAN}.md")}.items():
            file = self.shop / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        for arguments in _GIT:
            self._git(*arguments)

    def _git(self, *arguments: str) -> None:
        try:
            subprocess.run(  # noqa: S603
                ("git", *arguments),  # noqa: S607
                cwd=self.shop,
                env=self.environ,
                check=True,
                capture_output=True,
                text=True,
            )
        except FileNotFoundError as error:
            raise NotFound(
                "there is no git on PATH",
                why="asbuilt works in git repositories, and makes one for the demo.",
                next_step="Install git 2.38 or newer; `asbuilt doctor` looks for it.",
            ) from error
        except subprocess.CalledProcessError as error:
            raise GitFailed(
                f"git {arguments[0]}: {error.stderr.strip()}",
                why="The demo needs a repository to work in.",
                next_step="`asbuilt doctor` looks at your git.",
            ) from error

    def end_attempts(self) -> None:
        """Let no host go on in a folder that is about to go: after Ctrl-C one may still be at work."""
        attempts = FolderAttempts(self.state)
        alive = [
            folder.name for folder in self.state.glob("runs/*/attempts/*") if attempts.alive(folder.name)
        ]
        for name in alive:
            attempts.cancel(name)
        until = time.monotonic() + _GONE_WITHIN_S
        while any(map(attempts.alive, alive)) and time.monotonic() < until:
            time.sleep(0.05)


def _is_personal(name: str) -> bool:
    """Tell what of the environment would bring the user's own choices into the demo."""
    # What an organisation has locked holds in a demo too.
    return name.startswith(("ASBUILT_", "GIT_")) and name != "ASBUILT_ORGANISATION_FILE"


def _own(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
