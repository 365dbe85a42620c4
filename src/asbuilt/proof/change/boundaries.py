"""Boundaries of a phase: files with effects beyond it, and the words by which a plan orders such a change.

A boundary in `PLACES` is found by a file's path or link target; the others (`suppressions`, `limits`,
`checked`, …) are found in a file's content.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from posixpath import dirname, normpath
from typing import Final, NamedTuple

from asbuilt.proof.suites.model import Change, Severity
from asbuilt.settings.registry import SETTINGS


class Boundary(StrEnum):
    """What is beyond a phase, by the key of its setting."""

    OUTSIDE = "outside"
    PLAN = "plan"
    LINKS = "links"
    CI = "ci"
    HOOKS = "hooks"
    GIT = "git"
    AGENTS = "agents"
    EDITORS = "editors"
    TOOLS = "tools"
    SETTINGS = "settings"
    LOCKS = "locks"
    DEPENDENCIES = "dependencies"
    SUPPRESSIONS = "suppressions"
    LIMITS = "limits"
    CHECKED = "checked"


class Place(NamedTuple):
    """Files with effects beyond a phase."""

    rule: str
    """Name of a change there."""
    where: str
    """Pattern of the files' paths."""
    words: str = ""
    """Pattern of words by which a plan orders a change there, besides the path; empty if there are none."""


USUAL: Final[Mapping[str, str]] = {
    boundary.value: str(SETTINGS[f"scope.{boundary}"].default) for boundary in Boundary
}
"""Default of each boundary's setting."""
SEVERITY: Final = {"block": Severity.FAILS, "sign-off": Severity.SIGN_OFF, "note": Severity.NOTE}
PLACES: Final[Mapping[Boundary, Place]] = {
    Boundary.CI: Place(
        "ci-changed",
        r"^\.(github|forgejo|gitea)/(workflows|actions)/|^\.gitlab-ci\.ya?ml$|^\.gitlab/ci/|^\.circleci/|"
        r"^azure-pipelines[^/]*\.ya?ml$|(^|/)Jenkinsfile$|^\.travis\.yml$|^bitbucket-pipelines\.yml$|"
        r"^\.buildkite/|^\.drone\.ya?ml$|^\.woodpecker(/|\.ya?ml$)|^\.?appveyor\.yml$|^\.cirrus\.yml$|^\.ci/|"
        r"(^|/)CODEOWNERS$",
        r"\b(CI|continuous integration|GitHub Actions|workflows?|pipelines?)\b",
    ),
    Boundary.HOOKS: Place(
        "hook-changed",
        r"^\.(husky|githooks|git-hooks|lefthook)/|^\.pre-commit-config\.ya?ml$|^\.?lefthook\.ya?ml$|"
        r"^\.overcommit\.yml$|^\.lintstagedrc",
        r"(?i)\b(pre-commit|git hooks?|husky|lefthook)\b",
    ),
    Boundary.GIT: Place("git-setting-changed", r"(^|/)\.git(attributes|modules)$"),
    Boundary.AGENTS: Place(
        "agent-setting-changed",
        r"(^|/)(\.(claude|codex|cursor|gemini|continue|opencode|windsurf|aider[^/]*)(/|$)|"
        r"\.(cursor|windsurf)rules$|(AGENTS|CLAUDE|GEMINI)(\.local)?\.md$|\.mcp\.json$|opencode\.jsonc?$)|"
        r"^\.github/copilot-instructions\.md$",
    ),
    Boundary.EDITORS: Place(
        "editor-setting-changed",
        r"(?i)(^|/)(\.(vscode|devcontainer|idea|run|fleet|zed|cursor|nova|vs|theia|helix|vim|nvim|gitpod|"
        r"externalToolBuilders)(/|$)|\.devcontainer\.json$|\.gitpod\.[^/]+$|\.replit$|"
        r"[^/]*\.(code-workspace|sublime-(project|workspace))$|[._](g?vim|n?vim|l?vim|ex|kak)rc$|"
        r"\.(nvim|exrc)\.lua$|\.dir-locals(-2)?\.el$|\.envrc$|\.autoenv[^/]*$|\.tmuxinator\.ya?ml$)",
        r"(?i)\b(VS ?Code|dev ?containers?|editor settings|JetBrains|direnv)\b",
    ),
    Boundary.TOOLS: Place(
        "tool-setting-changed",
        r"(?i)(^|/)(\.npmrc|\.yarnrc(\.yml)?|\.yarn/(releases|plugins)/.*|\.?pnpmfile\.c?js|\.?bunfig\.toml|"
        r"\.cargo/config(\.toml)?|rust-toolchain(\.toml)?|\.?mise(\.[\w-]+)*\.toml|\.?mise/.*|\.config/mise.*|"
        r"\.lfsconfig|pip\.(conf|ini)|\.pypirc|uv\.toml|\.condarc|\.bundle/config|\.gemrc|"
        r"init\.gradle(\.kts)?|gradle/wrapper/.*|gradlew(\.bat)?|\.mvn/.*|mvnw(\.cmd)?|\.(sbt|jvm)opts|"
        r"nuget\.config|\.bazel(rc|version)|\.buckconfig|\.terraformrc|\.swiftpm/.*)$",
        r"(?i)\b(package|private) registr(y|ies)\b|\b(gradle|maven) wrapper\b|\bmise\b",
    ),
    Boundary.SETTINGS: Place("asbuilt-setting-changed", r"^asbuilt\.toml$|^\.asbuilt/"),
    Boundary.LOCKS: Place(
        "lock-file-changed",
        r"(^|/)((uv|poetry|pdm|Pipfile|Cargo|Gemfile|composer|bun|flake|mix|pubspec|Podfile)\.lock|bun\.lockb|"
        r"yarn\.lock|package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|go\.sum|gradle\.lockfile)$",
        r"(?i)\block ?files?\b|\b((add|upgrad|bump|pin|updat|install|remov)\w*|us(e|es|ing))\b.*"
        r"\b(dependenc|package|librar)",
    ),
}
LINK_WORDS: Final = re.compile(r"(?i)\*\*Allows:?\*\*:?\s+links?|\bsym(bolic[ -])?-?links?\b|\bsubmodules?\b")
"""Words by which a plan orders a link; the same line names its path."""
_LOOSENS: Final = (
    "loosen|relax|lower|rais|increas|reduc|allow|accept|disabl|ignor|exclud|omit|turn|drop|remov|chang|updat|set|"
    "configur|migrat|upgrad|adjust|mov|replac|adopt|switch"
)
_LIMITS: Final = (
    r"coverage|lint\w*|max-warnings|complexity|fail[-_]under|ruff|flake8|mypy|pyright|pylint|eslint|golangci\S*|clippy|"
    r"rubocop|prettier|biome|tsconfig\S*|pytest|jest|vitest|mocha"
)
WORDS: Final[Mapping[Boundary, re.Pattern[str]]] = {
    Boundary.SUPPRESSIONS: re.compile(
        r"(?i)\b(suppress\w*|silenc\w*|noqa|type: ?ignore|nolint|eslint-disable|"
        r"ts-(ignore|expect-error|nocheck)|pragma|pylint|istanbul|#\[allow)"
    ),
    Boundary.LIMITS: re.compile(
        rf"(?i)\*\*Allows:?\*\*:?\s+limits?|\b({_LOOSENS})\w*\b.*\b({_LIMITS})\b|"
        rf"\b({_LIMITS})\b.*\b(becomes?|goes|to \d)"
    ),
}
"""Words by which a plan orders what is found in a file's content."""
# C0, C1 and DEL act in a terminal; the others reorder a name or are invisible.
_HIDDEN: Final = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]"
)


def link_of(change: Change) -> tuple[str, str] | None:
    """Return the rule and the reason for a path that leaves the tree or hides its name; None if neither."""
    if change.after is None and change.submodule is None:
        return None
    if _HIDDEN.search(change.path):
        return "name-hides-characters", f"its name is {change.path!a}"
    if change.submodule is not None:
        return "submodule-changed", f"commit {change.submodule[:12]} of another repository"
    if change.target is None:
        return None
    end = normpath(f"{dirname(change.path)}/{change.target}" if dirname(change.path) else change.target)
    parts = end.split("/")
    if change.target.startswith("/") or parts[0] == ".." or any(part.lower() == ".git" for part in parts):
        return "link-leaves-the-tree", f"it leads to {change.target}"
    return None
