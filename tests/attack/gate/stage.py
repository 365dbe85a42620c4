"""A throw-away repository with something of everything, beside a home with secrets.

The one rule: what stands here is made up, and whoever breaks it breaks a copy.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
import subprocess
from pathlib import Path
from typing import NamedTuple

GIT_SETTINGS = {
    "diff.autoRefreshIndex": "false",
    "safe.bareRepository": "explicit",
    "protocol.ext.allow": "never",
}
_IDENTITY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Ada"), ("EMAIL", "ada@example.com"), ("DATE", "2026-01-02T03:04:05Z"))
}
_EVIL = "#!/bin/sh\ntouch pwned\n"
_TEXTS = {
    "README.md": '# Readme\n\nfoo bar, main and a.b\nit\'s done! say "hi" → é\n- x > y; a | b\n$HOME\n',
    "CHANGELOG.md": "v1 first\nv2 second\nfoo\n",
    "requirements.txt": "click==8.1\nattrs==23.1\nclick==8.1\n# none\n",
    "pyproject.toml": '[project]\nname = "x"\n',
    "package.json": json.dumps(
        {"name": "x", "version": "1.2.3", "scripts": {"test": "true"}, "dependencies": {"a": "1", "b": "2"}}
    ),
    "package.yaml": "a: 1\nname: out\n",
    "data.csv": "1,pwned,3\n2,-delete,5\n",
    "src/app.py": "import os\n\n\ndef main():\n    # TODO\n    return 1\n",
    "src/util.py": "def helper():\n    return 2\n",
    "tests/test_a.py": "def test_a():\n    assert True\n",
    ".gitignore": "build/\n",
    ".github/workflows/ci.yml": "on: push\n",
    ".env": "SECRET_TOKEN=abc\n",
    ".envrc": "export SECRET_TOKEN=abc\n",
    ".env.local": "SECRET_TOKEN=abc\n",
    "secrets/prod.pem": "-----BEGIN PRIVATE KEY-----\n",
    "id_rsa": "-----BEGIN PRIVATE KEY-----\n",
    "deploy_key.pem": "-----BEGIN PRIVATE KEY-----\n",
    "config/server.key": "-----BEGIN PRIVATE KEY-----\n",
    "evil.sh": _EVIL,
    "evil.awk": 'BEGIN{system("touch pwned")}\n',
    "evil.sed": "1w out.txt\n",
    "evil.py": "open('pwned', 'w')\n",
    "evil.js": "require('fs').writeFileSync('pwned', '')\n",
    "evil.mk": "x := $(shell touch pwned)\nall:\n",
    "evil.m4": "syscmd(touch pwned)\n",
    "Makefile": "x := $(shell touch pwned)\nall:\n",
    "x.c": "int main(void) { return 0; }\n",
}
_AT_HOME = {
    ".ssh/id_rsa": "-----BEGIN PRIVATE KEY-----\n",
    ".ssh/config": "Host x\n",
    ".netrc": "machine x password y\n",
    ".bash_history": "export SECRET_TOKEN=abc\n",
    ".npmrc": "//registry/:_authToken=abc\n",
    ".config/gh/hosts.yml": "oauth_token: abc\n",
    "projects/note": "x\n",
}


class Stage(NamedTuple):
    """Where a command plays."""

    root: Path

    @property
    def repository(self) -> Path:
        """The folder that a conversation stands in."""
        return self.root / "repository"

    @property
    def home(self) -> Path:
        """The home of whoever runs it."""
        return self.root / "home"

    @property
    def environment(self) -> dict[str, str]:
        """All that a command gets of variables."""
        return {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "SECRET_TOKEN": "abc",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_CONFIG_COUNT": str(len(GIT_SETTINGS)),
            **{f"GIT_CONFIG_KEY_{n}": key for n, key in enumerate(GIT_SETTINGS)},
            **{f"GIT_CONFIG_VALUE_{n}": value for n, value in enumerate(GIT_SETTINGS.values())},
        }

    def copied(self, to: Path) -> Stage:
        """Make another one just like it."""
        shutil.copytree(self.root, to, symlinks=True)
        return Stage(to)

    def digest(self) -> dict[str, str]:
        """Say what every file is: kind, rights and content."""
        return {str(path.relative_to(self.root)): _digest(path) for path in sorted(self.root.rglob("*"))}


def build(root: Path) -> Stage:
    """Make the repository and the home."""
    stage = Stage(root)
    for folder, texts in ((stage.repository, _TEXTS), (stage.home, _AT_HOME)):
        for name, text in texts.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    (stage.repository / "evil.sh").chmod(0o755)
    (stage.repository / "data.bin").write_bytes(bytes(range(256)))
    _archives(stage.repository)
    _history(stage)
    return stage


def _archives(folder: Path) -> None:
    for command in (
        ["tar", "cf", "bundle.tar", "README.md", "CHANGELOG.md"],
        ["tar", "czf", "bundle.tgz", "README.md"],
    ):
        subprocess.run(command, cwd=folder, check=True)
    shutil.make_archive(str(folder / "bundle"), "zip", folder, "README.md")
    (folder / "data.gz").write_bytes(_gzip(b"one a\ntwo\n"))
    sums = hashlib.sha256((folder / "README.md").read_bytes()).hexdigest()
    (folder / "sums.txt").write_text(f"{sums}  README.md\n")
    with sqlite3.connect(folder / "data.db") as database:
        database.execute("create table things (name text)")
    database.close()


def _history(stage: Stage) -> None:
    _git(stage, "init", "-q", "-b", "main")
    _git(stage, "config", "user.name", "Ada")
    _git(stage, "config", "user.email", "ada@example.com")
    _git(stage, "remote", "add", "origin", "http://127.0.0.1/x")
    _git(stage, "add", "-A")
    _git(stage, "commit", "-q", "-m", "first: all of it")
    _git(stage, "tag", "v1.0")
    _git(stage, "branch", "feat/one")
    for number in (1, 2):
        with (stage.repository / "README.md").open("a") as readme:
            readme.write(f"line {number} main\n")
        _git(stage, "commit", "-q", "-am", f"fix: a > b; c {number}")
    patch = _git(stage, "diff", "HEAD~1")
    with (stage.repository / "CHANGELOG.md").open("a") as changes:
        changes.write("stashed\n")
    _git(stage, "stash", "-q")
    (stage.repository / "change.patch").write_text(patch)
    evil = stage.repository / "evil.git"
    subprocess.run(["git", "init", "-q", "--bare", str(evil)], check=True, env=stage.environment)  # noqa: S607
    with (evil / "config").open("a") as settings:
        settings.write(
            f'[core]\n\tbare = false\n\tworktree = ..\n\tfsmonitor = "touch {stage.repository}/pwned"\n'
        )


def _git(stage: Stage, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments],  # noqa: S607
        cwd=stage.repository,
        env={**stage.environment, **_IDENTITY},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def _gzip(data: bytes) -> bytes:
    done = subprocess.run(["gzip", "-nc"], input=data, check=True, capture_output=True)  # noqa: S607
    return done.stdout


def _digest(path: Path) -> str:
    found = path.lstat()
    if path.is_symlink():
        return f"link to {path.readlink()}"
    if path.is_file():
        return f"{found.st_mode:o} {hashlib.sha256(path.read_bytes()).hexdigest()}"
    return f"{found.st_mode:o}"
