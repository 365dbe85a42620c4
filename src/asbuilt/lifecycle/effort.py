"""Guidance to an agent by the effort that the user chose; it binds nothing. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from asbuilt.events.options import Effort

FOR_A_PLAN: Final[dict[Effort, str]] = {
    "fast": "Be quick: read what the task names and what that calls, and write the shortest plan that holds.",
    "hard": "Take your time: read widely, look for what would break, weigh each step before you write it.",
}
FOR_A_TASK: Final[dict[Effort, str]] = {
    "fast": "Be quick: the shortest way that still gives a usable result.",
    "hard": "Take your time: think through what is hard, and weigh other ways before you decide.",
}
