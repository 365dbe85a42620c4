"""Settings of landing: mode, signing, branch, and the wait for a pull request's checks."""

from __future__ import annotations

from typing import Final

from asbuilt.settings.setting import Kind, Setting

LANDING: Final = (
    Setting(
        key="landing.mode",
        kind=Kind.CHOICE,
        choices=("cherry-pick", "pr", "direct"),
        default="cherry-pick",
        meaning="how proven commits reach the target branch",
        stakes="A guessed landing could move the wrong branch.",
        repository_may_set=True,
        read_by="run",
    ),
    Setting(
        key="landing.direct",
        kind=Kind.CHOICE,
        choices=("refuse", "allow"),
        default="allow",
        meaning="whether a phase may land by itself as soon as it is proven; refuse for a branch that"
        " is protected",
        stakes="A phase could reach a branch that somebody keeps whole.",
        repository_may_set=True,
        tightens=True,
        read_by="run",
    ),
    Setting(
        key="landing.sign",
        kind=Kind.CHOICE,
        choices=("auto", "always", "never"),
        default="auto",
        meaning="whether landed commits are signed",
        stakes="Commits could land without the signature that somebody relies on.",
        read_by="run",
    ),
    Setting(
        key="landing.programs",
        kind=Kind.GLOBS,
        default=(),
        meaning="programs of repositories' own git settings that git may start, by digests of the folder and"
        " what is set there",
        stakes="A repository that somebody packed for you could start a program as you.",
        read_by="run",
    ),
    Setting(
        key="landing.branch_prefix",
        kind=Kind.TEXT,
        default="feat/",
        meaning="what the branch of a pull request begins with, before the plan's name",
        stakes="The work would be pushed to a branch that nobody expects.",
        repository_may_set=True,
        read_by="run",
    ),
    Setting(
        key="landing.ci_poll_s",
        kind=Kind.NUMBER,
        default=30,
        most=3_600,
        meaning="seconds between two looks at the checks of a pull request, or at first at a plan's reviews",
        stakes="The forge would be asked so often that it refuses, or so seldom that nothing lands.",
        read_by="run",
    ),
    Setting(
        key="landing.ci_limit_s",
        kind=Kind.NUMBER,
        default=600,
        most=86_400,
        meaning="seconds for which the checks of a pull request are waited for after a push",
        stakes="A run would end before its checks do, or wait for what never comes.",
        read_by="run",
    ),
    Setting(
        key="landing.ci_fixes",
        kind=Kind.NUMBER,
        default=2,
        least=0,
        most=5,
        meaning="how often an agent may mend red checks of a pull request before you are asked",
        stakes="An agent would work, at your cost, on what it cannot mend.",
        read_by="run",
    ),
)
