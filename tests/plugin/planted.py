"""Slips that somebody could make in the plugin; the live tests show which of them Claude Code lets pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Slip(NamedTuple):
    """A word of a file, and another in its place."""

    file: str
    before: str
    after: str
    passes: bool
    """`claude plugin validate` lets it pass, and says nothing about it."""

    def made_in(self, files: Mapping[str, str]) -> dict[str, str]:
        """Make it, wherever the word stands in the file."""
        assert self.before in files[self.file]
        return {**files, self.file: files[self.file].replace(self.before, self.after)}


PLANTED: Final = (
    Slip("hooks/hooks.json", '"matcher"', '"matchers"', passes=True),
    Slip("hooks/hooks.json", '"timeout"', '"timeOut"', passes=True),
    Slip("hooks/hooks.json", '"PreToolUse":', '"PreToolUze":', passes=False),
    Slip("hooks/hooks.json", '"hooks": [', '"hook": [', passes=False),
    Slip("skills/approve/SKILL.md", "disable-model-invocation:", "disable-model-invokation:", passes=True),
    Slip("skills/approve/SKILL.md", "allowed-tools:", "allowed-tool:", passes=True),
    Slip("skills/plan/SKILL.md", "Bash(asbuilt mode plan)", "Bash(asbuilt mode show)", passes=True),
    Slip("skills/status/SKILL.md", "!`asbuilt status`", "!`asbuilt status $ARGUMENTS`", passes=True),
    Slip("agents/planner.md", "tools:", "tool:", passes=True),
    Slip("agents/planner.md", "omitClaudeMd:", "omitClaudeMD:", passes=True),
    Slip(".claude-plugin/plugin.json", '"license"', '"licence"', passes=False),
    Slip(".claude-plugin/marketplace.json", '"source"', '"sources"', passes=False),
)
