"""How often and how long a run tries: fixes, repeats, retries and times. Pure."""

from typing import Final

FIX_LIMIT: Final = 2
"""Maximum number of fixes of a phase, and of a pull request unless the settings name another number."""
REPEAT_LIMIT: Final = 2
"""Maximum repeats of attempts without a tree to judge (a stall, a crash, a timeout) and of lost verifiers."""
STALL_S: Final = 900
"""Silence after which an attempt is ended."""
OVERALL_S: Final = 7_200
"""Run time after which an attempt is ended."""
OVERLOAD_LIMIT: Final = 10
"""Maximum number of overload errors in a row, over about seven hours; the next one ends the run."""
TRANSIENT_LIMIT: Final = 10
"""Maximum number of transient errors in a row, over about six hours; the next one ends the run."""
REBASE_LIMIT: Final = 2
"""Maximum number of rebases of a pull request onto a target that moved; each is proven again."""
RESOLVE_LIMIT: Final = 2
"""Maximum number of tries to resolve one conflict of a pull request."""
RESOLVABLE_FILES: Final = 5
"""Maximum number of conflicting files that an agent may resolve; the user resolves more."""
FORGE_CHECKS_S: Final = 600
"""Maximum wait for the forge's checks after a push, unless the settings name another time."""
