"""Find the runner behind a package's test script. Pure."""

from __future__ import annotations

import json
from typing import Any, Final

from asbuilt.policy.shell.judge import argv_of
from asbuilt.proof.runners.lines import PACKAGERS, node_in
from asbuilt.proof.runners.table import ROWS

_EXEC: Final = {"npm": ("npx", "--no-install"), "pnpm": ("pnpm", "exec"), "yarn": ("yarn", "run")}
"""How each packager starts a program of the package without installing anything."""
_STARTS_ITSELF: Final = ("node", "npx", *PACKAGERS)


def real_argv(argv: tuple[str, ...], package: str) -> tuple[str, ...]:
    """Return the command line behind `npm test` if its script is one plain call of a known runner.

    With a `pretest` or `posttest` script, which the packager would run, the command stays as it is.
    """
    at = argv.index("--") if "--" in argv else len(argv)
    own, more = argv[:at], argv[at + 1 :]
    if own[0] not in PACKAGERS or own[1:] not in (("test",), ("t",), ("run", "test")):
        return argv
    scripts = _scripts(package)
    script = scripts.get("test")
    if not isinstance(script, str) or not script.strip() or {"pretest", "posttest"} & {*scripts}:
        return argv
    words = (*argv_of(script), *more)
    if node_in(words) is None and not any(
        row.in_packages and row.find(words) is not None for row in ROWS.values()
    ):
        return argv
    return words if words[0] in _STARTS_ITSELF else (*_EXEC[own[0]], *words)


def _scripts(package: str) -> dict[str, Any]:
    try:
        scripts = json.loads(package)["scripts"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}
    return scripts if isinstance(scripts, dict) else {}
