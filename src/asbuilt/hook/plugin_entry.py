"""`asbuilt-hook EVENT`: the hook of a plugin that was not rendered. It execs the rendered hook's command."""

from __future__ import annotations

import os
import sys

from asbuilt.session.hook_command import hook_argv

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> NoReturn:
    """Exec the hook."""
    argv = hook_argv(sys.argv[1] if sys.argv[1:] else "")
    os.execv(argv[0], argv)  # noqa: S606 - our own interpreter and script
