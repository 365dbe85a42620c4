"""A real repository for tests: identity and dates pinned, the developer's own settings off."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from asbuilt.git.commits import Person, advance, commit_tree, message_for
from asbuilt.git.landing.land import Intent, prepare
from asbuilt.git.repository import Repository, open_repository
from asbuilt.git.workspace.snapshots import keep
from asbuilt.git.workspace.workspaces import make

if TYPE_CHECKING:
    from asbuilt.ports import Kept, Workspace

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
ADA = Person(name="Ada", email="ada@example.com", at=AT)
RUN = "01hzy.rate-limit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shop:
    """A repository with a checkout of `main`, and rooms for what asbuilt makes."""

    root: Path
    home: Path
    room: Path

    @property
    def repository(self) -> Repository:
        return open_repository(self.root)

    @property
    def workspaces(self) -> Path:
        return self.room / "workspaces"

    def git(self, *argv: str, at: Path | None = None, check: bool = True) -> str:
        """Call git as the user would, in the user's own checkout."""
        done = subprocess.run(
            ["git", *argv],  # noqa: S607
            cwd=at or self.root,
            env=environment(self.home),
            capture_output=True,
            check=False,
        )
        if check and done.returncode:
            raise AssertionError(f"git {shlex.join(argv)}: {os.fsdecode(done.stderr)}")
        return os.fsdecode(done.stdout).rstrip("\n")

    def write(self, name: str, text: str | bytes, *, at: Path | None = None) -> None:
        path = (at or self.root) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)

    def commit(self, message: str, files: dict[str, str] | None = None, *, at: Path | None = None) -> str:
        for name, text in (files or {}).items():
            self.write(name, text, at=at)
        self.git("add", "-A", at=at)
        self.git("commit", "-q", "--allow-empty", "-m", message, at=at)
        return self.git("rev-parse", "HEAD", at=at)

    def tip(self, branch: str = "main") -> str:
        return self.git("rev-parse", f"refs/heads/{branch}")

    def workspace(self, lane: str = "main", *, commit: str | None = None) -> Workspace:
        return make(self.repository, self.workspaces, RUN, lane, commit or self.tip())

    def keep(self, workspace: Workspace, attempt: str = f"{RUN}.1.1", *, parent: str | None = None) -> Kept:
        return keep(self.repository, workspace, attempt, parent=parent or self.tip(), at=AT)

    def phase(
        self, phase: str, files: dict[str, str | None], *, onto: str | None = None, run: str = RUN
    ) -> str:
        """Make the outcome commit of a phase from files (None: deleted), on the plan's branch."""
        onto = onto or self.tip()
        gone = [f"D {json.dumps(name)}\n".encode() for name, text in files.items() if text is None]
        put = [
            f"M 100644 inline {json.dumps(name)}\ndata {len(text.encode())}\n{text}\n".encode()
            for name, text in files.items()
            if text is not None
        ]
        head = f"commit refs/made/tree\ncommitter A <a@x> 0 +0000\ndata 0\nfrom {onto}\n".encode()
        subprocess.run(
            ["git", "fast-import", "--quiet", "--force"],  # noqa: S607
            cwd=self.root,
            env=environment(self.home),
            input=head + b"".join([*gone, *put]),
            check=True,
        )
        tree = self.git("rev-parse", "refs/made/tree^{tree}")
        self.git("update-ref", "-d", "refs/made/tree")
        message = message_for(f"Phase {phase}", Asbuilt_Run=run, Asbuilt_Phase=phase)
        return commit_tree(self.repository, tree, parents=(onto,), author=ADA, message=message)

    def plan_branch(self, commit: str, old: str | None = None) -> None:
        advance(self.repository, "cp-rate-limit", new=commit, old=old)

    def intent(self, new: str, branch: str = "main") -> Intent:
        found = prepare(self.repository, run=RUN, branch=branch, old=self.tip(branch), new=new)
        assert isinstance(found, Intent), found
        return found

    def unprepared(self, new: str) -> Intent:
        """Give an intent as if it had been allowed: onto what `new` was built on."""
        return Intent(
            run=RUN, ref="refs/heads/main", old=self.git("rev-parse", f"{new}^"), new=new, checkout=None
        )

    def fsck(self) -> str:
        done = subprocess.run(
            ["git", "fsck", "--strict", "--no-dangling"],  # noqa: S607
            cwd=self.root,
            env=environment(self.home),
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout + done.stderr.replace("notice: HEAD points to an unborn branch (main)\n", "")


def killed_once(folder: Path, program: str, word: str) -> str:
    """Make a PATH on which a program is killed when it first gets a word."""
    folder.mkdir()
    (folder / program).write_text(
        f'#!/bin/sh\ncase " $* " in *" {word} "*) mkdir "{folder}/once" 2>&- && kill -9 $$;; esac\n'
        f'exec "{shutil.which(program)}" "$@"\n'
    )
    (folder / program).chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def make_shop(folder: Path) -> Shop:
    home = folder / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        "[user]\n\tname = Ada\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n"
        "[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n"
    )
    shop = Shop(root=folder / "shop-api", home=home, room=folder / "state")
    shop.root.mkdir()
    shop.room.mkdir()
    shop.git("init", "-q")
    shop.commit(
        "first",
        {"src/app.py": "one\ntwo\nthree\n", "README.md": "shop\n", ".gitignore": "*.env\nbuild/\n"},
    )
    return shop


def environment(home: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_DATE": "2026-01-02T03:04:05Z",
        "GIT_COMMITTER_DATE": "2026-01-02T03:04:05Z",
        "LC_ALL": "C",
    }


def picture(folder: Path, *, but: tuple[str, ...] = ()) -> dict[str, str]:
    """Draw every file of a folder: its kind, mode and digest; `.git` is left out."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if name.split("/", 1)[0] == ".git" or name in but or (path.is_dir() and not path.is_symlink()):
            continue
        if path.is_symlink():
            found[name] = f"link {path.readlink()}"
        else:
            digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
            found[name] = f"{path.stat().st_mode & 0o777:o} {digest}"
    return found


def user_state(shop: Shop, *, at: Path | None = None, but: tuple[str, ...] = ()) -> dict[str, object]:
    """Draw all that is the user's: files, index, stash, refs that are not ours, locks."""
    root = at or shop.root
    git_dir = Path(shop.git("rev-parse", "--absolute-git-dir", at=root))
    refs = shop.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    return {
        "files": picture(root, but=but),
        "staged": shop.git("diff", "--cached", "--raw", "--no-abbrev", at=root),
        "status": shop.git("status", "--porcelain=v2", "--ignored", "--untracked-files=all", at=root),
        "stash": shop.git("stash", "list"),
        "refs": [ref for ref in refs if not ref.startswith("refs/asbuilt/")],
        "locks": sorted(path.name for path in git_dir.glob("*.lock")),
        "ours": sorted(path.name for path in git_dir.glob("*asbuilt*")),
    }
