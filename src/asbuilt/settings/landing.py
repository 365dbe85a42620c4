"""Settings of landing: mode, signing, branch, and the wait for a pull request's checks."""

from __future__ import annotations

from typing import Final

from asbuilt.settings.setting import Kind, Setting

LANDING: Final = (
    Setting(
        key="landing.mode",
        # The words of `events.options.LANDINGS`, which would load msgspec wherever settings are read.
        choices=("cherry-pick", "pr", "direct"),
        default="cherry-pick",
        meaning="how proven commits reach the target branch",
        stakes="A guessed landing could move the wrong branch.",
        repository_may_set=True,
    ),
    Setting(
        key="landing.direct",
        choices=("refuse", "allow"),
        default="allow",
        meaning="whether a phase may land as soon as it is proven; refuse for a protected branch",
        stakes="A single phase could land on a branch that takes only whole plans.",
        repository_may_set=True,
        tightens=True,
    ),
    Setting(
        key="landing.sign",
        choices=("auto", "always", "never"),
        default="auto",
        meaning="whether landed commits are signed",
        stakes="Commits could land without a signature that others rely on.",
    ),
    Setting(
        key="landing.programs",
        default=(),
        meaning="programs of repositories' own git settings that git may start, by digests of the folder and"
        " their values",
        stakes="A repository made by others could start a program as you.",
    ),
    Setting(
        key="landing.branch_prefix",
        default="feat/",
        meaning="prefix of a pull request's branch, before the plan's name",
        stakes="The work would be pushed to an unexpected branch.",
        repository_may_set=True,
    ),
    Setting(
        key="landing.reports",
        special=Kind.FOLDER,
        meaning="folder for the file plan-NAME.md with a plan's reports, the newest first, committed with its"
        " marks when a run lands at its end; empty: reports stay in asbuilt's own state",
        stakes="Reports would be committed to an unexpected folder.",
        repository_may_set=True,
    ),
    Setting(
        key="landing.ci_poll_s",
        default=30,
        most=3_600,
        meaning="seconds between two polls of a pull request's checks, and first of a plan's reviews",
        stakes="Too many polls reach the forge's rate limit; too few delay the landing.",
    ),
    Setting(
        key="landing.ci_limit_s",
        default=600,
        most=86_400,
        meaning="seconds to wait for the checks of a pull request after a push",
        stakes="A run would end before its checks do, or wait for checks that never end.",
    ),
    Setting(
        key="landing.ci_fixes",
        default=2,
        least=0,
        most=5,
        meaning="number of fixes by an agent for failing checks of a pull request before you are asked",
        stakes="An agent would work, at your cost, on a failure that it cannot fix.",
    ),
)
