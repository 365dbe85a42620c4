"""Folders of a check environment, and the variables that lead programs there. Pure.

Rule: setup, checks and agents get the same paths, because programs write paths into what they install.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from asbuilt.policy.sandbox.rules import DEFAULT_PATH

INSIDE: Final = "/run/asbuilt"
"""Private to each sandbox. Without a dot or a space, which break some test runners and build tools."""

TOOLCHAINS: Final = (
    ("RUSTUP_HOME", ".rustup"),
    ("PYENV_ROOT", ".pyenv"),
    ("RBENV_ROOT", ".rbenv"),
    ("VOLTA_HOME", ".volta"),
    ("ASDF_DATA_DIR", ".asdf"),
    ("MISE_DATA_DIR", ".local/share/mise"),
    ("UV_PYTHON_INSTALL_DIR", ".local/share/uv/python"),
)
"""Toolchains that search below HOME, which is another folder in a sandbox."""


class Places(NamedTuple):
    """The folders of one check environment, as its processes see them."""

    checkout: str
    home: str
    """HOME, with what setup installed outside the checkout."""
    cache: str
    """Build caches, kept between runs of one setup."""
    out: str
    """Folder for reports."""
    downloads: str
    """Package caches, used by setups only."""
    services: str
    """Data of the services that run beside a check."""


def places_below(folder: str) -> Places:
    """Return the folders of a check environment below one folder."""
    return Places(*(f"{folder}/{name}" for name in Places._fields))


PLACED: Final = places_below(INSIDE)


def for_results(places: Places, path: str, *, has_venv: bool) -> dict[str, str]:
    """Return the variables by which programs find what setup installed; `path` is the user's PATH."""
    home, cache = places.home, places.cache
    programs = (f"{home}/venv/bin", f"{home}/go/bin", f"{home}/cargo/bin", f"{home}/.local/bin")
    return {
        "PATH": ":".join((*programs, path or DEFAULT_PATH)),
        "UV_PROJECT_ENVIRONMENT": f"{home}/venv",
        **({"VIRTUAL_ENV": f"{home}/venv"} if has_venv else {}),
        "CARGO_HOME": f"{home}/cargo",
        "CARGO_TARGET_DIR": f"{cache}/cargo",
        "GOPATH": f"{home}/go",
        "GOCACHE": f"{cache}/go",
        "GOTOOLCHAIN": "local",
        "GRADLE_USER_HOME": f"{home}/gradle",
        # The JVM takes its home from the user database, not from HOME.
        "MAVEN_OPTS": f"-Duser.home={home}",
        "BUNDLE_PATH": f"{home}/bundle",
        "CCACHE_DIR": f"{cache}/ccache",
    }


def for_setup(places: Places) -> dict[str, str]:
    """Return the variables of package caches, which are no part of a setup's result.

    Notices about newer versions are off: they would be the last lines of a setup that failed.
    """
    downloads = places.downloads
    return {
        "PIP_CACHE_DIR": f"{downloads}/pip",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "npm_config_update_notifier": "false",
        "UV_CACHE_DIR": f"{downloads}/uv",
        "UV_LINK_MODE": "copy",
        "POETRY_CACHE_DIR": f"{downloads}/poetry",
        "npm_config_cache": f"{downloads}/npm",
        "npm_config_store_dir": f"{downloads}/pnpm",
        "YARN_CACHE_FOLDER": f"{downloads}/yarn",
        "COREPACK_HOME": f"{places.home}/corepack",
    }


OFFLINE: Final[Mapping[str, str]] = {
    "CARGO_NET_OFFLINE": "true",
    "GOPROXY": "off",
    "UV_OFFLINE": "1",
    "UV_NO_SYNC": "1",
    "COREPACK_ENABLE_NETWORK": "0",
}
"""For commands without a network: programs report at once what is missing, and do not wait for a timeout."""
WITHOUT_SCRIPTS: Final[Mapping[str, str]] = {
    "npm_config_ignore_scripts": "true",
    "YARN_ENABLE_SCRIPTS": "false",
}
"""For a setup on a tree that an agent wrote: packages are unpacked, and their scripts do not run."""
