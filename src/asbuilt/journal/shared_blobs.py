"""Texts and outputs on a database that machines share: small ones in its rows, large ones in a shared place.

The shared place is a folder or an object store. The worker's own folder is a cache. Without a shared place,
large ones are rows too.
"""

from __future__ import annotations

import importlib
import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from asbuilt.errors import NotFound, StoreFailed
from asbuilt.journal.blobs import Blobs, digest_of

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Transactions

LARGE: Final = 256_000
"""Compressed bytes above which a blob goes to the shared place, if there is one."""
_LOGIN: Final = (
    "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_ENDPOINT_URL",
    "GOOGLE_SERVICE_ACCOUNT_KEY", "AZURE_STORAGE_ACCOUNT_NAME", "AZURE_STORAGE_ACCOUNT_KEY",
)  # fmt: skip
"""Variables that the object store's client gets, in lower case as its settings."""
_CLIENT: Final = {"timeout": "60s", "connect_timeout": "5s", "allow_http": True}
_RETRY: Final = {"max_retries": 3, "retry_timeout": timedelta(seconds=30)}


class Large(Protocol):
    """Where machines share blobs that are too large for a row."""

    def put(self, data: bytes) -> str:
        """Store bytes and return their digest."""

    def get(self, digest: str) -> bytes:
        """Return the bytes of a digest."""

    def check(self) -> None:
        """Raise `StoreFailed` unless the place can be reached."""


class SharedFolder(Blobs):
    """A folder that all machines mount."""

    def check(self) -> None:
        """Raise `StoreFailed` unless it is a folder that can be written; one that is not mounted is none."""
        if not os.access(self._folder, os.R_OK | os.W_OK | os.X_OK) or not self._folder.is_dir():
            raise _unreachable(str(self._folder), "it is not a folder that you can write to")


class ObjectStore:
    """A bucket of S3 or a compatible server, of Google or of Azure: compressed objects named by digests."""

    def __init__(self, url: str, environ: Mapping[str, str]) -> None:
        """Open a bucket by its URL; the login is in `environ`, or where its provider puts it on a machine."""
        self._url = url
        login = {name.lower(): environ[name] for name in _LOGIN if name in environ}
        try:
            store = importlib.import_module("obstore.store")
        except ImportError as error:
            raise _unreachable(url, "the package obstore is not installed: asbuilt[fleet] has it") from error
        with _reported(url):
            self._store: Any = store.from_url(url, config=login, client_options=_CLIENT, retry_config=_RETRY)

    def put(self, data: bytes) -> str:
        """Store bytes and return their digest; the same bytes again replace themselves."""
        digest = digest_of(data)
        with _reported(self._url):
            self._store.put(_name(digest), zlib.compress(data))
        return digest

    def get(self, digest: str) -> bytes:
        """Return the bytes of a digest."""
        try:
            with _reported(self._url, FileNotFoundError):
                packed = bytes(self._store.get(_name(digest)).bytes())
            return zlib.decompress(packed)
        except FileNotFoundError as error:
            raise Blobs.gone(digest) from error
        except zlib.error as error:
            raise Blobs.damaged(digest) from error

    def check(self) -> None:
        """Raise `StoreFailed` unless the bucket answers that it does not have a digest."""
        try:
            self.get(digest_of(b""))
        except NotFound:
            return


@contextmanager
def _reported(url: str, *known: type[Exception]) -> Iterator[None]:
    """Raise errors of the library, which have no common base, as `StoreFailed`, but for known ones."""
    try:
        yield
    except known:
        raise
    except Exception as error:
        raise _unreachable(url, str(error).partition("\n")[0][:200]) from error


def open_large(place: str, environ: Mapping[str, str]) -> Large:
    """Open the shared place for large blobs: a folder, or the URL of a bucket."""
    return ObjectStore(place, environ) if "://" in place else SharedFolder(Path(place).expanduser())


class SharedBlobs(Blobs):
    """Blobs that every machine on the database can read."""

    def __init__(self, folder: Path, store: Transactions, large: Large | None = None) -> None:
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
        """Return the bytes of a digest, verified; the first time from the database or the shared place."""
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
            raise self.damaged(digest)
        return data


def _name(digest: str) -> str:
    name = digest.removeprefix("sha256:")
    return f"{name[:2]}/{name}"


def _unreachable(place: str, message: str) -> StoreFailed:
    return StoreFailed(
        f"the shared place for outputs, {place}, cannot be used: {message}",
        why="Another worker could not read the evidence of this one.",
        next_step="`asbuilt config show store.blobs` shows who set it, or try it: `asbuilt doctor`",
    )
