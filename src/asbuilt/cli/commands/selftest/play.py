"""Play a case as a whole run, and observe the outcome.

Rule: decisions and moves are those of any run; only the durable engine is left out.
"""

from __future__ import annotations

import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeVar

from asbuilt.cli.commands.selftest.stage import Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from asbuilt.cli.commands.selftest.corpus import Case

Answer = TypeVar("Answer")
_AT_WORK: Final = ("Keep", "Check", "Verify", "Commit", "Land")


class Came(NamedTuple):
    """The outcome of a case."""

    how: Literal["landed", "refused", "asked", "broken"]
    words: tuple[str, ...]
    """The reason, in asbuilt's words."""
    touched: tuple[str, ...] = ()
    """Files of the user that changed although nothing landed."""


class _Decided(Exception):
    """Raised when a case is decided."""


def play(case: Case) -> Came:
    """Play a case in a temporary folder."""
    folder = Path(tempfile.mkdtemp(prefix="asbuilt-lies-")).resolve()
    try:
        stage = Stage(folder, case)
        before = stage.surroundings()
        came = _Watching(case).watch(stage)
        after = stage.surroundings() if came.how != "landed" else before
        touched = {name for name in {*before, *after} if before.get(name) != after.get(name)}
        return came._replace(touched=tuple(sorted(name.removeprefix(f"{folder}/") for name in touched)))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class _Watching:
    """Observes every decision of a run, and ends the run when the case is decided."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._came: Came | None = None
        self._is_at_work = False

    def watch(self, stage: Stage) -> Came:
        with suppress(_Decided):
            stage.go_through(self._step)
        return self._came or Came("broken", ("the run came to no decision",))

    def _step(self, name: str, act: Callable[..., Answer], *arguments: object) -> Answer:
        del name
        answer = act(*arguments)
        if isinstance(answer, dict) and "move" in answer:
            self._is_at_work |= answer["move"] in _AT_WORK
            self._came = self._settled(answer)
            if self._came is not None:
                raise _Decided
        return answer

    def _settled(self, told: dict[str, Any]) -> Came | None:
        """Return the outcome that a decision means; None: the run continues."""
        match told:
            case {"move": "End", "state": state, "reason": reason}:
                if state == "landed":
                    return Came("landed", ())
                return Came("refused" if self._is_at_work else "broken", (reason,))
            case {"move": "Attempt", "role": "fix", "failures": failures} if not self._case.is_fixed:
                return Came("refused", tuple(failures))
            case {"move": "Ask", "kind": kind, "question": question}:
                return Came("refused" if kind == "waiver" else "asked", (question,))
            case {"move": "Wait", "why": why}:
                return Came("broken", (f"it waits: {why}",))
            case _:
                return None
