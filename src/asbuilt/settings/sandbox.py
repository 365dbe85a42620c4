"""Settings of the sandbox: whether it is required, and what agents reach and read besides their own files.

Rule: a repository sets none of them, because other people write it.
"""

from __future__ import annotations

from typing import Final

from asbuilt.settings.setting import Kind, Setting

SANDBOX: Final = (
    Setting(
        key="sandbox.required",
        default=True,
        meaning="refuse to plan or run where no sandbox is available",
        stakes="An agent could run without the protection you count on.",
    ),
    Setting(
        key="sandbox.network",
        choices=("none", "list", "open"),
        default="list",
        meaning="what an agent reaches; list: the hosts of its model and `sandbox.hosts`, open: everything",
        stakes="An agent could send what it reads to any host.",
    ),
    Setting(
        key="sandbox.setup",
        choices=("none", "list", "open"),
        default="list",
        meaning="what the setup of a check environment reaches; list: the registries that the package tools"
        " here are set to, and `sandbox.hosts`, open: everything",
        stakes="A package's install script could reach any host.",
    ),
    Setting(
        key="sandbox.hosts",
        special=Kind.HOSTS,
        default=(),
        meaning="hosts that agents and setups reach besides their own: docs.example.com, *.example.com, or"
        " with a port, also in your own network: 127.0.0.1:4000",
        stakes="An agent could send what it reads to a host that you do not trust.",
    ),
    Setting(
        key="sandbox.readable",
        special=Kind.PATHS,
        default=(),
        meaning="files and folders that agents and checks may read besides their workspace and the"
        " toolchains: /data/fixtures, ~/certificates",
        stakes="An agent could read what you keep there, and its model's host would have it.",
    ),
)
