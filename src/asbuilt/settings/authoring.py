"""Settings of authoring: mode, agents, principles, the plan's template, and what each stage asks for."""

from __future__ import annotations

from typing import Final

from asbuilt.settings.setting import Setting

_AMOUNTS: Final = {
    "items": (3, 5, "numbered points of an understanding or an open critique"),
    "files": (2, 5, "files that an exploration names"),
    "options": (2, 3, "options that differ"),
    "principles": (3, 8, "principles that a critic judges"),
}
MOST_AGENTS: Final = 10
AMOUNTS: Final = tuple(_AMOUNTS)


def _agents(name: str, default: int, meaning: str) -> Setting:
    return Setting(
        key=f"author.{name}",
        default=default,
        most=MOST_AGENTS,
        meaning=f"how many agents {meaning} side by side in the standard mode",
        stakes="Each agent costs money, and one that is missing reads or weighs less.",
        read_by="author",
    )


def _amount(name: str, verb: str, default: int, what: str, then: str) -> Setting:
    return Setting(
        key=f"author.{verb}_{name}",
        default=default,
        most=50,
        meaning=f"{what}: {then}",
        stakes="An output could pass with less than you meant, or be refused although it is good.",
        read_by="author",
    )


AUTHOR: Final = (
    Setting(
        key="author.mode",
        choices=("fitting", "light", "standard", "staged", "interview"),
        default="fitting",
        meaning="the mode of authoring; fitting: light or standard, by the size of the request",
        stakes="A plan could take longer than its work, or be written without your answers.",
        read_by="author",
    ),
    Setting(
        key="author.profile",
        choices=("protective", "expedient"),
        default="expedient",
        meaning="when a plan is needed, and when it takes the standard mode; protective: if unsure,"
        " expedient: only if the approach is unclear",
        stakes="A plan could be longer than its work, or too short for it.",
        read_by="author",
    ),
    _agents("explorers", 2, "explore the code"),
    _agents("planners", 1, "propose a plan"),
    *(
        setting
        for name, (floor, aim, what) in _AMOUNTS.items()
        for setting in (
            _amount(name, "needs", floor, what, "an output with fewer is refused"),
            _amount(name, "asks", aim, what, "the number in the prompt; never below the number needed"),
        )
    ),
    Setting(
        key="author.principles",
        meaning="the file whose principles a critic judges by, from the repository's root; empty: the"
        " twelve that `asbuilt author --principles` prints",
        stakes="A plan could be judged by less than you meant.",
        read_by="author",
    ),
    Setting(
        key="plan.template",
        meaning="the file that new plans are made from, from the repository's root; empty: the one that"
        " `asbuilt plan new --template` prints",
        stakes="Plans would have another form than your repository expects.",
        repository_may_set=True,
        read_by="plan",
    ),
)
