"""Have the modules of the hook compiled: an installer leaves that to the first import, in a ring nobody can.

The one rule: nothing depends on it but speed.
"""

from __future__ import annotations

import compileall
from pathlib import Path


def compile_hooks() -> bool:
    """Compile what a hook loads, where it is not; tell whether all of it is compiled now."""
    package = Path(__file__).resolve().parent.parent
    folders = [package, *(package / name for name in ("hook", "policy", "policy/programs", "session"))]
    return all(compileall.compile_dir(folder, maxlevels=0, quiet=2) for folder in folders)
