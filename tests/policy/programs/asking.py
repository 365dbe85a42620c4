"""Ask the gate as a conversation in a repository does."""

from __future__ import annotations

from asbuilt.policy.shell.judge import verdict


def refused(text: str) -> str | None:
    """Say why a command may not run in the repository /work/shop of Ada, or None."""
    return verdict(text, cwd="/work/shop", home="/home/ada", root="/work/shop")
