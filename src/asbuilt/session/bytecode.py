"""Compile the hook's modules to bytecode.

Installers leave this to the first import, and the sandbox is read-only. Only speed depends on it.
"""

from __future__ import annotations

import compileall
from pathlib import Path


def compile_hooks() -> None:
    """Compile the modules that a hook imports, where bytecode is missing and the folder is writable."""
    package = Path(__file__).resolve().parent.parent
    compileall.compile_file(package / "__init__.py", quiet=2)
    for name in ("hook", "policy", "session"):
        compileall.compile_dir(package / name, quiet=2)
