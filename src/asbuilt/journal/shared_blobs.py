"""Texts and outputs on a database that machines share: small ones in its rows, large ones in a shared folder.

The worker's own folder is a cache. Without a shared folder, large ones are rows too.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Final

from asbuilt.errors import NotFound
from asbuilt.journal.blobs import Blobs

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.journal.database.store import Transactions

LARGE: Final = 256_000
"""Compressed bytes above which a blob goes to the shared folder, if there is one."""


class SharedBlobs(Blobs):
    """Blobs that every machine on the database can read."""

    def __init__(self, folder: Path, store: Transactions, large: Blobs | None = None) -> None:
        """Keep the parts. `store` has connections of its own: a blob is put while a transaction is open."""
        super().__init__(folder)
        self._store = store
        self._large = large

    def put(self, data: bytes) -> str:
        """Store bytes where every machine can read them; return their digest."""
        digest = super().put(data)
        packed = zlib.compress(data)
        if self._large is not None and len(packed) > LARGE:
            return self._large.put(data)
        with self._store.write() as session:
            session.run(
                "INSERT INTO blobs (name, data, at) VALUES (:name, :data, :now) ON CONFLICT DO NOTHING",
                name=digest.removeprefix("sha256:"),
                data=packed,
                now=session.now,
            )
        return digest

    def get(self, digest: str) -> bytes:
        """Return the bytes of a digest, verified; the first time from the database or the shared folder."""
        try:
            return super().get(digest)
        except NotFound:
            with self._store.read() as session:
                rows = session.rows(
                    "SELECT data FROM blobs WHERE name = :name", name=digest.removeprefix("sha256:")
                )
            if not rows and self._large is None:
                raise
        data = zlib.decompress(rows[0]["data"]) if rows or self._large is None else self._large.get(digest)
        if super().put(data) != f"sha256:{digest.removeprefix('sha256:')}":
            raise self._damaged(digest)
        return data
