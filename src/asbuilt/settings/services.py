"""Settings of services, variables and credentials for checks and the setup."""

from __future__ import annotations

from typing import Final

from asbuilt.settings.setting import Kind, Setting

_SHARED: Final = "Code that an agent wrote, or a package that is installed, could read what you keep secret."


def _names(section: str, who: str) -> Setting:
    return Setting(
        key=f"{section}.env",
        special=Kind.NAMES,
        default=(),
        meaning=f"names of variables that {who}; a repository asks for them, and you grant it once",
        stakes=_SHARED,
        repository_may_set=True,
    )


def _value(section: str) -> Setting:
    return Setting(
        key=f"{section}.env.NAME",
        meaning=f"the value of the variable NAME of {section}.env; not set: as in your environment",
        stakes=_SHARED,
        secret=True,
    )


SERVICES: Final = (
    Setting(
        key="checks.services",
        special=Kind.SERVICES,
        default=(),
        meaning="programs that run beside each check, on its own loopback: postgres, redis, or tables with"
        " name, command, and ready, the port on which it answers",
        stakes="Tests that need a program could not run, or not with the one that you chose.",
        repository_may_set=True,
    ),
    _names("checks", "checks get"),
    _names("setup", "the setup gets"),
    Setting(
        key="checks.granted",
        default=(),
        meaning="repositories that get the variables they ask for, by digests of their folders and the names",
        stakes=_SHARED,
    ),
    Setting(
        key="setup.credentials",
        special=Kind.CHOICES,
        choices=("npm", "pip", "netrc", "cargo", "phases"),
        default=(),
        meaning="package tools whose credentials, as in ~/.npmrc, the setup gets; phases: also the setup of a"
        " phase that asks for other packages, with the variables of setup.env",
        stakes="A package's install script could read your login at a registry.",
    ),
)
VALUES: Final = (_value("checks"), _value("setup"))
