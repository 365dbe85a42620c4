"""A repository whose own settings name a program for every key that starts one; each leaves a trace."""

from __future__ import annotations

import shlex
import subprocess
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

KEYS: Final = (
    "filter.x.clean", "filter.x.smudge", "filter.y.process", "gpg.program", "gpg.openpgp.program",
    "gpg.ssh.program", "gpg.ssh.defaultkeycommand", "gpg.x509.program", "core.fsmonitor", "core.sshcommand",
    "core.pager", "core.editor", "core.askpass", "core.alternaterefscommand", "core.gitproxy",
    "sequence.editor", "diff.external", "diff.x.command", "diff.x.textconv", "merge.x.driver",
    "credential.helper", "credential.https://github.com.helper", "pager.log", "interactive.difffilter",
    "trailer.t.command", "trailer.t.cmd", "hook.h.command", "remote...receivepack", "remote...uploadpack",
    "remote.origin.receivepack", "lfs.customtransfer.t.path", "lfs.extension.e.clean",
)  # fmt: skip
"""Each is set to a program of its own."""
WITH_MARK: Final = ("alias.push", "alias.read-tree", "submodule.s.update")
"""Their values are programs behind an exclamation mark."""
HOOKS: Final = (
    "pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-checkout", "post-index-change",
    "reference-transaction", "pre-push", "pre-receive", "update", "proc-receive", "post-receive",
    "post-update", "push-to-checkout", "fsmonitor-watchman", "post-merge", "post-rewrite", "pre-auto-gc",
)  # fmt: skip


def plant(git_dir: Path, programs: Path, *, config: Path | None = None) -> Path:
    """Set every key in a repository's own file, and every hook; returns the file of the traces."""
    programs.mkdir()
    trace = programs / "started"
    config = config or git_dir / "config"
    for number, key in enumerate((*KEYS, *WITH_MARK)):
        value = str(_program(programs / str(number), trace, key))
        _set(config, key, f"!{value}" if key in WITH_MARK or key.startswith("credential.") else value)
    _set(config, "url.ext::sh -c true.insteadof", "shop:")
    _set(config, "remote.other.url", "ext::sh -c true")
    _set(config, "filter.x.required", "true")
    _set(config, "hook.h.event", "reference-transaction")
    (git_dir / "hooks").mkdir(exist_ok=True)
    for name in HOOKS:
        _program(git_dir / "hooks" / name, trace, f"hooks/{name}")
    return trace


def started(trace: Path) -> list[str]:
    """List the keys whose programs were started."""
    return sorted(set(trace.read_text().splitlines())) if trace.exists() else []


def _program(file: Path, trace: Path, name: str) -> Path:
    # What a filter or a text conversion is given comes out again, so that git goes on.
    file.write_text(f"#!/bin/sh\necho {shlex.quote(name)} >>{shlex.quote(str(trace))}\ncat\n")
    file.chmod(0o755)
    return file


def _set(config: Path, key: str, value: str) -> None:
    subprocess.run(["git", "config", "--file", str(config), key, value], check=True)  # noqa: S607
