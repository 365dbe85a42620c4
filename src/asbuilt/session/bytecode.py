"""Have the modules of the hook compiled: an installer leaves that to the first import, in a ring nobody can.

The one rule: nothing depends on it but speed.
"""

from __future__ import annotations

import compileall
from pathlib import Path


def compile_hooks() -> None:
    """Compile what a hook loads, where it is not and where we may write."""
    package = Path(__file__).resolve().parent.parent
    compileall.compile_file(package / "__init__.py", quiet=2)
    for name in ("hook", "policy", "session"):
        compileall.compile_dir(package / name, quiet=2)
