"""Remove credentials from a repository's own git settings. Pure."""

from __future__ import annotations

import re

from asbuilt.policy.masking import masked

_USER = re.compile(r"(://)[^/\s@\"]*@")
_SIGNS_IN = re.compile(
    r"^\s*(?:\w*(?:extraheader|pass|token|secret|cookiefile|apikey)\w*|helper|sslkey)\s*=",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r"\\\n")


def without_logins(text: str) -> str:
    """Return settings without logins in URLs and commands, and without lines that hold only a login."""
    lines = _GOES_ON.sub("", text).splitlines(keepends=True)
    kept = "".join(line for line in lines if _SIGNS_IN.match(line) is None)
    clean = masked(_USER.sub(r"\1", kept))
    # Values over several lines are joined only if something was removed.
    return clean if clean != _GOES_ON.sub("", text) else text
