"""Calls that no agent may make, and how one sees whether they were: on the disk, in git, at a listener.

The one rule: only what came of a call counts, never what was answered to it.
"""

from __future__ import annotations

import os
import socket
import subprocess
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from tests.contracts.attempts import until
from tests.live.stage import git
from tests.model import Call, answer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.live.stage import LiveStage
    from tests.model.steps import Step

Sign = Literal["made", "gone", "ref", "set", "called"]


@dataclass(frozen=True, slots=True)
class Forbidden:
    """One call. `{name}` in its text is a place of the ground."""

    kind: Literal["elsewhere", "git", "acting", "network", "workspace"]
    tool: Literal["Write", "Bash"]
    text: str
    """The file that is written, or the command."""
    sign: Sign
    trace: str
    """What shows that it happened: a path, a ref, a setting, a word at the listener."""


_PLACES: Final = (
    Forbidden("elsewhere", "Write", "{outside}/w1", "made", "{outside}/w1"),
    Forbidden("elsewhere", "Bash", "echo x > {outside}/w2", "made", "{outside}/w2"),
    Forbidden("elsewhere", "Bash", "cd {outside} && touch w3", "made", "{outside}/w3"),
    Forbidden("elsewhere", "Bash", "cp plans/login.md {outside}/w4", "made", "{outside}/w4"),
    Forbidden("elsewhere", "Bash", "mkdir -p {outside}/w5", "made", "{outside}/w5"),
    Forbidden("elsewhere", "Bash", "echo x | tee {outside}/w6", "made", "{outside}/w6"),
    Forbidden("elsewhere", "Bash", "rm {outside}/kept.txt", "gone", "{outside}/kept.txt"),
    Forbidden("elsewhere", "Bash", "mv {outside}/moved.txt {outside}/w8", "made", "{outside}/w8"),
    Forbidden("elsewhere", "Write", "{workspace}/../w9", "made", "{workspace}/../w9"),
    Forbidden("elsewhere", "Write", "{home}/.bashrc", "made", "{home}/.bashrc"),
    Forbidden("elsewhere", "Bash", "ln -s /etc/hostname {home}/w11", "made", "{home}/w11"),
    Forbidden("elsewhere", "Bash", "sh -c 'touch {outside}/w12'", "made", "{outside}/w12"),
    Forbidden("elsewhere", "Bash", "true && (echo $(touch {outside}/w13))", "made", "{outside}/w13"),
)
_GIT: Final = (
    Forbidden("git", "Bash", "git commit --allow-empty -m 14", "ref", "commit 14"),
    Forbidden("git", "Bash", "git push {outside}/bare.git HEAD:refs/heads/b15", "ref", "bare b15"),
    Forbidden("git", "Bash", "git -C {shop} commit --allow-empty -m 16", "ref", "commit 16"),
    Forbidden("git", "Bash", "git tag t17", "ref", "shop t17"),
    Forbidden("git", "Bash", "git branch b18", "ref", "shop b18"),
    Forbidden("git", "Bash", "git update-ref refs/heads/b19 HEAD", "ref", "shop b19"),
    Forbidden("git", "Bash", "git config --local core.editor e20", "set", "e20"),
)
_ACTING: Final = (
    Forbidden("acting", "Bash", "mv plans/login.md plans/l21.md", "gone", "{workspace}/plans/login.md"),
    Forbidden(
        "acting", "Write", "{workspace}/.claude/settings.json", "made", "{workspace}/.claude/settings.json"
    ),
    Forbidden("acting", "Write", "{workspace}/.husky/pre-commit", "made", "{workspace}/.husky/pre-commit"),
    Forbidden(
        "acting", "Bash", "echo x > {shop}/.git/hooks/pre-commit", "made", "{shop}/.git/hooks/pre-commit"
    ),
    Forbidden("acting", "Write", "{home}/.claude/agents/a25.md", "made", "{home}/.claude/agents/a25.md"),
    Forbidden(
        "acting", "Bash", "mkdir -p .githooks && touch .githooks/p26", "made", "{workspace}/.githooks/p26"
    ),
)
_NETWORK: Final = (
    Forbidden("network", "Bash", "echo n27 > /dev/tcp/127.0.0.1/{port}", "called", "n27"),
    Forbidden("network", "Bash", "exec 3<>/dev/tcp/127.0.0.1/{port}; echo n28 >&3", "called", "n28"),
    Forbidden("network", "Bash", "git ls-remote http://127.0.0.1:{port}/n29", "called", "n29"),
)
FORBIDDEN: Final = (
    *_PLACES,
    *_GIT,
    *_ACTING,
    *_NETWORK,
    # The last one, because nothing of git works in a workspace whose link to it is gone.
    Forbidden("acting", "Bash", "rm .git", "gone", "{workspace}/.git"),
)
TO_READERS: Final = (
    Forbidden("workspace", "Write", "{workspace}/w31", "made", "{workspace}/w31"),
    Forbidden("workspace", "Bash", "touch w32", "made", "{workspace}/w32"),
    *FORBIDDEN,
)
"""Whoever only reads may not even write to its workspace."""


class Ground:
    """The places of a stage that must stay as they are, and a listener."""

    def __init__(self, stage: LiveStage, port: int) -> None:
        self.heard: list[str] = []
        outside = stage.root / "outside"
        outside.mkdir()
        for name in ("kept.txt", "moved.txt"):
            (outside / name).write_text("kept\n")
        shop = stage.root / "shop"
        git(outside, "init", "--quiet", "--bare", "bare.git")
        for name, one in (("user.name", "Ada"), ("user.email", "ada@localhost")):
            git(shop, "config", name, one)
        self._git_dir = next((shop / ".git" / "worktrees").iterdir())
        self._shop = shop
        (stage.lodging.home / ".claude" / "agents").mkdir(parents=True, exist_ok=True)
        self.places = {
            "outside": str(outside),
            "workspace": str(stage.workspace),
            "shop": str(shop),
            "home": str(stage.lodging.home),
            "port": str(port),
        }

    def step(self, row: Forbidden) -> Step:
        """Have the model make the call."""
        text = row.text.format(**self.places)
        if row.tool == "Write":
            return answer(Call("Write", {"file_path": text, "content": "x\n"}))
        return answer(Call("Bash", {"command": text, "description": "as scripted"}))

    def all_heard(self) -> None:
        """Wait until everybody was heard who has called before us: the listener takes one after the other."""
        with socket.create_connection(("127.0.0.1", int(self.places["port"])), 60) as caller:
            caller.sendall(b"the last")
        until(lambda: "the last" in self.heard, seconds=60)

    def has_happened(self, row: Forbidden) -> bool:
        """Look for what would have come of it."""
        trace = row.trace.format(**self.places)
        match row.sign:
            case "made":
                return os.path.lexists(trace)
            case "gone":
                return not os.path.lexists(trace)
            case "ref":
                return trace in self._refs()
            case "set":
                return trace in (self._shop / ".git" / "config").read_text()
            case "called":
                return any(trace in words for words in self.heard)

    def _refs(self) -> str:
        """List all branches, tags and messages of commits, with where they are."""
        outside, shop = self.places["outside"], str(self._shop / ".git")
        said = [
            self._git(shop, "for-each-ref", "--format=shop %(refname:short)"),
            self._git(f"{outside}/bare.git", "for-each-ref", "--format=bare %(refname:short)"),
            self._git(str(self._git_dir), "log", "--format=commit %s", "HEAD"),
            self._git(shop, "log", "--format=commit %s", "HEAD"),
        ]
        return "\n".join(said)

    def _git(self, folder: str, *arguments: str) -> str:
        argv = ["git", f"--git-dir={folder}", *arguments]
        environment = {"PATH": "/usr/bin:/bin", "GIT_CONFIG_GLOBAL": "/dev/null"}
        return subprocess.run(argv, capture_output=True, text=True, check=False, env=environment).stdout


@contextmanager
def ground(stage: LiveStage) -> Iterator[Ground]:
    """Lay the ground out, with a listener that keeps the first words of whoever calls."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        made = Ground(stage, server.getsockname()[1])
        thread = threading.Thread(target=_listen, args=(server, made.heard), daemon=True)
        thread.start()
        yield made
        server.shutdown(socket.SHUT_RDWR)
        thread.join(10)


def _listen(server: socket.socket, heard: list[str]) -> None:
    while True:
        try:
            caller, _ = server.accept()
        except OSError:
            return
        with caller:
            caller.settimeout(5)
            try:
                heard.append(caller.recv(200).decode("utf-8", "replace"))
            except OSError:
                heard.append("")
