"""Find the commands by which an agent starts a phase: the user confirms them, as at a terminal.

Rule: a doubt asks. The question protects from an unwanted start, not from an agent that hides it.
"""

from __future__ import annotations

_IMPLIED = {
    "run": ("--auto", "--finish", "--every", "--dry-run", "--help", "-h"),
    "run-plan": ("auto", "finish", "every", "status", "next", "stop", "--dry-run", "--help", "-h"),
}
"""Words with which the command asks nothing at a terminal either."""
_ENDS = ";&|()`\n"
_QUOTES = "\"'"


def phase_start(line: str) -> str:
    """Return the part of a shell line that starts a phase after a yes; empty if there is none."""
    for end in _ENDS:
        line = line.replace(end, "\n")
    for part in line.split("\n"):
        words = [word.strip(_QUOTES) for word in part.split()]
        for at, word in enumerate(words[1:], 1):
            is_ours = words[at - 1].rpartition("/")[2] == "asbuilt"
            if is_ours and word in _IMPLIED and not _implied(word, words[at + 1 :]):
                return part.strip()
    return ""


def _implied(name: str, words: list[str]) -> bool:
    return any(word.lower().partition("=")[0] in _IMPLIED[name] for word in words)
