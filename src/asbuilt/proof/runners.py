"""Ask a test runner for a report that is not its prose. Only a runner that is known for certain is asked."""

from __future__ import annotations

from typing import Final

_PYTEST: Final = ("pytest", "py.test")
_BEFORE: Final = ("-m", "run", "--frozen", "--locked", "--offline", "--no-sync")
"""Words behind which a pytest is the program that is started, and not some other program's argument."""
_STARTERS: Final = ("python", "uv", "poetry", "pdm", "hatch", "pipenv", "coverage")


def reporting(argv: tuple[str, ...], report: str) -> tuple[str, ...]:
    """Give the command line that also writes a JUnit report, or the same one where that is not certain.

    It is an argument, not a variable: a variable would reach every pytest that a test starts, and the last
    one to end would overwrite the report.
    """
    at = _pytest_in(argv)
    if at is None or any(word.startswith(("--junitxml", "--junit-xml")) for word in argv):
        return argv
    return (*argv[: at + 1], f"--junitxml={report}", *argv[at + 1 :])


def _pytest_in(argv: tuple[str, ...]) -> int | None:
    """Find the word behind which pytest's own arguments begin."""
    names = [word.rpartition("/")[2] for word in argv]
    if names[0] in _PYTEST:
        return 0
    if not names[0].startswith(_STARTERS):
        return None
    return next((at for at, name in enumerate(names) if name in _PYTEST and argv[at - 1] in _BEFORE), None)
