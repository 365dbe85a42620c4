"""Plugins of pytest that a project's settings need, also if no list of its packages names them."""

from __future__ import annotations

from typing import Final

from asbuilt.proof.projects.index import Index
from asbuilt.proof.suites.pytest_settings import FILES, Settings, settings_in

_PLUGINS: Final = {
    "pytest-cov": ("--cov", "--no-cov"),
    "pytest-xdist": ("-n", "--numprocesses", "--dist"),
    "pytest-timeout": ("--timeout", "timeout"),
    "pytest-asyncio": ("--asyncio-mode", "asyncio_mode"),
    "pytest-benchmark": ("--benchmark",),
    "pytest-randomly": ("--randomly",),
    "pytest-random-order": ("--random-order",),
    "pytest-rerunfailures": ("--reruns",),
    "pytest-html": ("--html", "--self-contained-html"),
    "pytest-mypy": ("--mypy",),
    "pytest-ruff": ("--ruff",),
    "pytest-flake8": ("--flake8",),
    "pytest-black": ("--black",),
    "pytest-isort": ("--isort",),
    "pytest-sugar": ("--force-sugar",),
    "pytest-socket": ("--disable-socket", "--allow-hosts"),
    "pytest-mpl": ("--mpl",),
    "pytest-doctestplus": ("--doctest-plus", "--doctest-rst"),
    "pytest-django": ("--ds", "--reuse-db", "--nomigrations", "django_settings_module"),
    "pytest-env": ("env",),
    "pytest-codspeed": ("--codspeed",),
    "syrupy": ("--snapshot",),
    "xdoctest": ("--xdoctest",),
    "nbval": ("--nbval",),
}
"""Packages, each with the options and settings that pytest refuses without it; an option is a prefix."""


def settings_of(index: Index, folder: str) -> Settings:
    """Return pytest's settings of a folder; of two files, the one that pytest prefers has the last word."""
    found: Settings = {}
    for name in FILES:
        found = {**settings_in(name, index.text(folder, name).encode()), **found}
    return found


def plugins(index: Index, folder: str) -> list[str]:
    """Return the plugins without which pytest refuses the settings of a folder."""
    settings = settings_of(index, folder)
    words = [word.casefold() for word in (*settings, *settings.get("addopts", ()))]
    return [package for package, marks in _PLUGINS.items() if any(_needs(word, marks) for word in words)]


def _needs(word: str, marks: tuple[str, ...]) -> bool:
    return any(word.startswith(mark) if mark.startswith("--") else word == mark for mark in marks)
