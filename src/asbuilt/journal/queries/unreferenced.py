"""Find the blobs that no event references, directly or through another blob. Read-only."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from asbuilt.errors import NotFound, StoreFailed

if TYPE_CHECKING:
    from asbuilt.journal.blobs import Blobs
    from asbuilt.journal.database.store import Session

_DIGEST: Final = re.compile(r"sha256:([0-9a-f]{64})")
_PAGE: Final = 2_000


def unnamed(session: Session, blobs: Blobs) -> list[Path]:
    """List the blob files that no event, revision or referenced blob names."""
    files = {file.name: file for file in blobs.files()}
    named: set[str] = set()
    fresh = _in_rows(session)
    while fresh:
        named |= fresh
        fresh = {name for digest in fresh if digest in files for name in _in_blob(blobs, digest)} - named
    return [file for name, file in sorted(files.items()) if name not in named]


def _in_rows(session: Session) -> set[str]:
    found = {
        name for row in session.rows("SELECT blob FROM revisions") for name in _DIGEST.findall(row["blob"])
    }
    seen: dict[str, object] = {"org": "", "repo": "", "plan": "", "seq": 0}
    while rows := session.rows(
        "SELECT org, repo, plan, seq, data FROM events"
        " WHERE (org, repo, plan, seq) > (:org, :repo, :plan, :seq)"
        " ORDER BY org, repo, plan, seq LIMIT :page",
        **seen,
        page=_PAGE,
    ):
        found |= {name for row in rows for name in _DIGEST.findall(row["data"])}
        seen = {name: rows[-1][name] for name in seen}
    return found


def _in_blob(blobs: Blobs, name: str) -> set[str]:
    try:
        return set(_DIGEST.findall(blobs.get(f"sha256:{name}").decode("utf-8", "replace")))
    except (NotFound, StoreFailed):
        # The references of a missing or damaged blob are unknown.
        return set()
