"""Play the pages of docs/tutorial as a new user: a built wheel, an empty home, every command typed.

`--check` compares.

A fence with a title is written to that file; a console fence is typed, and its output is replaced.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from stable import keep

from asbuilt.agents.sandbox.launch import probe
from asbuilt.journal.engine.liveness import holder

ROOT: Final = Path(__file__).parent.parent
PAGES: Final = tuple(ROOT / "docs/tutorial" / name for name in ("first-plan.md", "undo.md"))
NOT_RUN: Final = 3
_FENCE: Final = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```', re.MULTILINE | re.DOTALL)


class Newcomer:
    """Somebody with a repository, git, and the wheel."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.home, self.shop = folder / "home", folder / "shop-api"
        self.home.mkdir()
        self.shop.mkdir()
        self.environ = {
            "HOME": str(self.home), "PATH": f"{programs}:/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8",
            "LOGNAME": "ann",
        }  # fmt: skip
        (self.shop / "README.md").write_text("# Shop\n", encoding="utf-8")
        for command in (
            "git config --global user.name Ann && git config --global user.email ann@example.com",
            "git init -q -b main && git add . && git commit -qm 'A shop'",
        ):
            self.types(command)

    def types(self, command: str) -> str:
        """Type one line and give all that comes, as a terminal would show it."""
        ended = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=self.shop,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            text=True,
        )
        return "".join(f"{line.rstrip()}\n" for line in ended.stdout.splitlines())

    def reads(self, page: str) -> str:
        """Do what the page says, and give it back with what really came."""
        return _FENCE.sub(self._fence, page)

    def _fence(self, fence: re.Match[str]) -> str:
        kind, file, text = fence.groups()
        if file is not None:
            place = self.home / file[2:] if file.startswith("~/") else self.shop / file
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
        if kind != "console":
            return fence[0]
        typed = [line for line in text.splitlines() if line.startswith("$ ")]
        return "```console\n" + "".join(f"{line}\n{self.types(line[2:])}" for line in typed) + "```"

    def leave(self) -> None:
        """End the worker that the first run has started."""
        pid = holder(self.home / ".local/state/asbuilt/worker.lock")
        if pid:
            os.kill(pid, signal.SIGKILL)


def install(folder: Path) -> Path | None:
    """Build the wheel and install it as a tool; None where there is no uv to do it."""
    uv = shutil.which("uv") or shutil.which(ROOT / ".tools/bin/uv")
    if uv is None:
        return None
    built = [
        sys.executable,
        "-m",
        "hatchling",
        "build",
        "--target",
        "wheel",
        "--directory",
        str(folder / "dist"),
    ]
    subprocess.run(built, cwd=ROOT, check=True, capture_output=True)
    [wheel] = (folder / "dist").glob("*.whl")
    where = {"UV_TOOL_DIR": str(folder / "tools"), "UV_TOOL_BIN_DIR": str(folder / "bin")}
    # The versions of the hashed file, from the cache that `scripts/setup` has filled where it can be.
    asked = [uv, "tool", "install", "--quiet", "--python", sys.executable]
    asked += ["--constraints", str(ROOT / "requirements/run.txt"), str(wheel)]
    # As in `scripts/setup`: the machine's own trust store, as pip and git use it.
    environ = {"UV_SYSTEM_CERTS": "true"} | os.environ | where
    if subprocess.run([*asked, "--offline"], env=environ, check=False, capture_output=True).returncode != 0:
        subprocess.run(asked, env=environ, check=True)
    return folder / "bin"


def main() -> int:
    """Write the pages again, or report whether they still show what happens."""
    if probe().for_work == "none":
        print("NOT RUN: no ring holds here, and the pages show a run that one holds")
        return NOT_RUN
    with tempfile.TemporaryDirectory(prefix="asbuilt-first-") as made:
        programs = install(Path(made))
        if programs is None:
            print("NOT RUN: there is no uv to install the wheel with")
            return NOT_RUN
        newcomer = Newcomer(Path(made), programs)
        try:
            played = [newcomer.reads(page.read_text(encoding="utf-8")) for page in PAGES]
        finally:
            newcomer.leave()
    return max(keep(page, text, command="just first-plan") for page, text in zip(PAGES, played, strict=True))


if __name__ == "__main__":
    sys.exit(main())
