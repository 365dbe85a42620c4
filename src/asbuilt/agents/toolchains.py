"""Find the toolchains of a user that look for themselves below HOME."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.policy.check_environment import TOOLCHAINS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def toolchains_in(homes: Iterable[Path]) -> dict[str, str]:
    """Give the variable of each toolchain that is there; the first home that has it decides."""
    found: dict[str, str] = {}
    for home in homes:
        for name, below in TOOLCHAINS:
            if name not in found and (home / below).is_dir():
                found[name] = str(home / below)
    return found
