"""Build the demo's repository, plan and script. The user's settings are not read."""

from __future__ import annotations

import os
import re
import sys
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Final

from asbuilt.cli.shell.scratch import Scratch

if TYPE_CHECKING:
    from collections.abc import Mapping

PLAN: Final = "rate-limit"
_SLEEP: Final = re.compile(r"sleep = ([\d.]+)")
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


class Scene(Scratch):
    """The folder of a demo; nothing is left elsewhere."""

    def __init__(self, folder: Path, environ: Mapping[str, str]) -> None:
        own = {
            # The Python that runs asbuilt is certain to exist.
            "PATH": os.pathsep.join((str(Path(sys.executable).parent), environ.get("PATH", os.defpath))),
            "ASBUILT_AGENTS_IMPLEMENT": "scripted",
            "ASBUILT_SANDBOX_REQUIRED": "false",
            # The shop needs no packages, and the demo must work offline.
            "ASBUILT_CHECKS_SETUP": "none",
            "XDG_CONFIG_HOME": str(folder / "config"),
        }
        super().__init__(folder, "shop-api", environ, own)
        self.script = folder / "agent.toml"

    def prepare(self, *, pace: float) -> None:
        """Write the repository with its plan, and the script with its pauses scaled by `pace`."""
        script = _SLEEP.sub(lambda sleep: f"sleep = {float(sleep[1]) * pace}", _own("agent.toml"))
        self.script.write_text(script, encoding="utf-8")
        self.build({**_FILES, f"plans/{PLAN}.md": _own(f"{PLAN}.md")}, message="A shop without limits")


def _own(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
