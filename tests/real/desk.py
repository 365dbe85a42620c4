"""A newcomer's machine: the built wheel, an empty home, and what the machine's registries need.

Rule: asbuilt starts with `env -i`: nothing of the environment passes but PATH and the variables of `PASSED`.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from asbuilt.journal.engine.liveness import holder

ROOT: Final = Path(__file__).parents[2]
_POLL_S: Final = 0.1
# Where registries and certificates are configured on a machine, and where its toolchains are.
PASSED: Final = (
    "CURL_CA_BUNDLE", "GOPROXY", "GOFLAGS", "HTTPS_PROXY", "HTTP_PROXY", "NODE_EXTRA_CA_CERTS", "NO_PROXY",
    "NPM_CONFIG_REGISTRY", "PIP_CERT", "PIP_EXTRA_INDEX_URL", "PIP_INDEX_URL", "REQUESTS_CA_BUNDLE",
    "RUSTUP_HOME", "SSL_CERT_DIR", "SSL_CERT_FILE", "UV_INDEX_URL", "http_proxy", "https_proxy", "no_proxy",
)  # fmt: skip


class Ended(NamedTuple):
    """A command that ended: its exit code and all that it wrote; 124 is the time limit."""

    code: int
    output: str


class Started(NamedTuple):
    """A command that asbuilt started in its sandbox, seen from outside."""

    command: tuple[str, ...]
    at: float
    seconds: float


def cache_folder() -> Path:
    """Return the folder for downloads and trials, outside of the repository and of /tmp."""
    named = os.environ.get("ASBUILT_REAL_CACHE", "")
    return Path(named) if named else Path.home() / ".cache/asbuilt-real"


def install(cache: Path) -> Path:
    """Build the wheel, install it as a tool, and return the folder with its programs and uv."""
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock, tempfile.TemporaryDirectory(prefix="asbuilt-wheel-") as made:
        fcntl.flock(lock, fcntl.LOCK_EX)
        built = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", made]
        subprocess.run(built, cwd=ROOT, check=True, capture_output=True)
        [wheel] = Path(made).glob("*.whl")
        # A folder for each wheel: a trial that is under way keeps the programs that it began with.
        folder = cache / "installed" / hashlib.sha256(wheel.read_bytes()).hexdigest()[:12]
        programs = folder / "bin"
        if (programs / "uv").exists():
            return programs
        uv = shutil.which("uv") or str(ROOT / ".tools/bin/uv")
        environ = {"UV_SYSTEM_CERTS": "true"} | os.environ
        environ |= {"UV_TOOL_DIR": str(folder / "tools"), "UV_TOOL_BIN_DIR": str(programs)}
        asked = [uv, "tool", "install", "--quiet", "--python", sys.executable]
        asked += ["--constraints", str(ROOT / "requirements/run.txt"), str(wheel)]
        subprocess.run(asked, env=environ, check=True)
        shutil.copy2(uv, programs / "uv")
    return programs


@dataclass(slots=True)
class Desk:
    """One trial's machine: `repo`, an empty `home`, and asbuilt's own folder `state`."""

    folder: Path
    programs: Path
    started: list[Started] = field(default_factory=list)

    @property
    def repo(self) -> Path:
        """The project's repository."""
        return self.folder / "repo"

    @property
    def state(self) -> Path:
        """The folder where asbuilt keeps everything."""
        return self.folder / "state"

    def environ(self) -> dict[str, str]:
        """Return the whole environment of a command."""
        home = self.folder / "home"
        home.mkdir(parents=True, exist_ok=True)
        passed = {name: os.environ[name] for name in PASSED if name in os.environ}
        rustup = Path.home() / ".rustup"
        toolchains = {"RUSTUP_HOME": str(rustup)} if rustup.is_dir() else {}
        return (
            {"LANG": "C.UTF-8", "LOGNAME": "ann"}
            | toolchains
            | passed
            | {"PATH": f"{self.programs}:{_path()}", "HOME": str(home), "ASBUILT_HOME": str(self.state)}
        )

    def types(self, *words: str, limit_s: float, answer: str = "") -> Ended:
        """Type one command in the repository; at its limit its worker and its children end too."""
        begun = subprocess.Popen(
            words, cwd=self.repo, env=self.environ(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
        )  # fmt: skip
        over = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(over,))
        watcher.start()
        try:
            output, _ = begun.communicate(answer, timeout=limit_s)
            return Ended(begun.returncode, output)
        except subprocess.TimeoutExpired:
            self.leave()
            with suppress(ProcessLookupError):
                os.killpg(begun.pid, signal.SIGKILL)
            output, _ = begun.communicate()
            return Ended(124, f"{output}\nnot over after {limit_s:.0f} s")
        finally:
            over.set()
            watcher.join()

    def leave(self) -> None:
        """End the worker that the first run has started; its sandboxes end with it."""
        lock = self.state / "worker.lock"
        pid = holder(lock) if lock.exists() else None
        if pid:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def size_mb(self) -> float:
        """Return how much disk asbuilt's folder takes."""
        return sum(_size(file) for file in self.state.rglob("*")) / 1e6 if self.state.exists() else 0.0

    def _watch(self, over: threading.Event) -> None:
        """Note each sandbox that asbuilt starts, its command and how long it lasted."""
        running: dict[int, tuple[tuple[str, ...], float]] = {}
        while True:
            now = time.time()
            seen = _sandboxes(str(self.state))
            for pid, command in seen.items():
                running.setdefault(pid, (command, now))
            for pid in [pid for pid in running if pid not in seen]:
                command, at = running.pop(pid)
                self.started.append(Started(command, at, now - at))
            if over.wait(_POLL_S):
                return


def _path() -> str:
    """Return PATH without the folder of the interpreter that runs this: a user has no such folder."""
    own = str(Path(sys.executable).parent)
    return ":".join(folder for folder in os.environ["PATH"].split(":") if folder != own)


def _size(file: Path) -> int:
    with suppress(OSError):
        held = file.lstat()
        return held.st_blocks * 512
    return 0


def _sandboxes(state: str) -> dict[int, tuple[str, ...]]:
    """Return the outermost sandbox processes over a state folder, with the command inside."""
    found: dict[int, tuple[str, ...]] = {}
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        with suppress(OSError, IndexError, ValueError):
            words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
            if not words or Path(words[0]).name != "bwrap" or state not in " ".join(words):
                continue
            stat = (entry / "stat").read_text(encoding="utf-8", errors="replace")
            parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
            found[int(entry.name)] = tuple(words[words.index("--") + 1 :]) if "--" in words else tuple(words)
    return {pid: command for pid, command in found.items() if parents[pid] not in found}
