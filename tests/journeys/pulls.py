"""A shop whose repository is at a stub of GitHub, reached by the real gh. Its CI judges every commit."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from asbuilt.events.options import RunOptions
from asbuilt.flows.run.environment import keep
from tests.forge.hub import CheckRun
from tests.forge.server import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.forge.hub import Hub, Pull
    from tests.forge.server import Stub
    from tests.journeys.shop import Shop

GH_FOLDER = os.environ.get("ASBUILT_GH_FOLDER", str(Path(sys.executable).parent))
"""Where the gh is that is tried: the current one from PyPI, or another."""
CALM = {"poll_s": 1, "limit_s": 600}
"""What a run is given: the forge is asked each second."""
GREEN = [CheckRun(name="build", conclusion="success")]
PENDING = [CheckRun(name="build", conclusion=None)]
RED = [CheckRun(name="build", conclusion="failure", log="greet.py: nobody is named\n")]
PLAN = """\
---
issue: {issue}
---
# Greetings

## Phase 1 — Greet
### Work Items
- [ ] `greet.py` says hello
### Verification
- `grep -q hello greet.py`
"""
SCRIPT = """\
[[turn]]
phase = "1"
role = "implement"
acts = [{ write = "greet.py", text = "print('hello')\\n" }, { say = "done" }]
[[turn]]
role = "verify"
acts = [{ verdict = "pass" }]
"""


class PullShop:
    """A shop, its forge, and the way from one to the other."""

    def __init__(self, shop: Shop, stub: Stub, folder: Path) -> None:
        self.shop = shop
        self.hub: Hub = stub.hub
        self._home = folder / "person"
        self._home.mkdir()
        stub.sign_git_in(self._home)
        self._environment = stub.environment(folder / "gh-settings") | {
            "HOME": str(self._home),
            "PATH": os.pathsep.join([GH_FOLDER, os.environ["PATH"]]),
        }
        self.issue = self.hub.issue("Nobody is greeted")
        shop.script.write_text(SCRIPT, encoding="utf-8")
        shop.commit("plan.md", PLAN.format(issue=self.issue), "plan")
        shop.git("remote", "add", "origin", stub.url)
        shop.git("push", "-q", str(self.hub.git_dir), "main")
        self.hub.ci = lambda _: list(GREEN)

    def request(self, **options: Any) -> str:  # noqa: ANN401
        """Ask for a run that lands by pull request."""
        pull = {**CALM, **options.pop("pull", {})}
        wish = {
            "mode": "finish",
            "hold": False,
            "landing": "pr",
            "pull": pull,
            "issues": [self.issue],
            **options,
        }
        # No worker may take the run up before the way to its forge is kept.
        self.shop.kill()
        run = self.shop.request(**wish)
        keep(self.shop.home / "runs" / run, self._environment, options=RunOptions(landing="pr"))
        return run

    def ends(self, **options: Any) -> tuple[str, str]:  # noqa: ANN401
        """Ask for a run, and let a worker bring it to its end that knows of no forge but by the run."""
        run = self.request(**options)
        self.shop.start()
        return self.shop.over(run)

    def theirs(self, files: dict[str, str], subject: str = "theirs") -> str:
        """Let somebody else push to main; returns its new tip."""
        before = self.hub.git("rev-parse", "main")
        self.hub.git("read-tree", "main")
        for path, text in files.items():
            (self.hub.folder / "theirs").write_text(text, encoding="utf-8")
            blob = self.hub.git("hash-object", "-w", str(self.hub.folder / "theirs"))
            self.hub.git("update-index", "--add", "--cacheinfo", f"100644,{blob},{path}")
        tree = self.hub.git("write-tree")
        made = self.hub.git("commit-tree", tree, "-p", before, "-m", subject)
        self.hub.git("update-ref", "refs/heads/main", made, before)
        return made

    @property
    def pull(self) -> Pull:
        """The one pull request that was ever opened."""
        (only,) = self.hub.pulls.values()
        return only

    def log(self, branch: str = "main") -> list[str]:
        """List the subjects of a branch at the forge, without merges, the newest first."""
        return self.hub.git("log", "--topo-order", "--no-merges", "--format=%s", branch).splitlines()


@contextmanager
def pulling(shop: Shop, folder: Path) -> Iterator[PullShop]:
    """Serve a stub for as long as the block runs; the worker ends before it does."""
    with serving(folder / "hub") as stub:
        try:
            yield PullShop(shop, stub, folder)
        finally:
            shop.kill()
