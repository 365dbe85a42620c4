"""Texts and outputs by digest, in a folder; `put` and `get` would fit any object store."""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from asbuilt.errors import NotFound, StoreFailed

_LEVEL: Final = 6


def digest_of(data: bytes) -> str:
    """Return the digest under which bytes are stored."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


class Blobs:
    """Content-addressed files, compressed; writing the same content twice writes nothing."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, data: bytes) -> str:
        """Store bytes and return their digest."""
        name = digest_of(data).removeprefix("sha256:")
        file = self._file(name)
        # Touch it, so that cleanup does not delete it as unreferenced before an event names it.
        with suppress(FileNotFoundError):
            os.utime(file)
            if self._holds(name, data):
                return f"sha256:{name}"
        fresh = file.with_name(f".{name}.{os.urandom(4).hex()}")
        try:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with fresh.open("xb") as opened:
                os.fchmod(opened.fileno(), 0o600)
                opened.write(zlib.compress(data, _LEVEL))
                opened.flush()
                os.fsync(opened.fileno())
            fresh.replace(file)
        except OSError as error:
            fresh.unlink(missing_ok=True)
            raise StoreFailed(
                f"an output could not be kept: {error.strerror or error}",
                why="Evidence that is not kept proves nothing later.",
                next_step="Free some disk space, then: `asbuilt run`",
            ) from error
        return f"sha256:{name}"

    def get(self, digest: str) -> bytes:
        """Return the bytes of a digest, verified."""
        name = digest.removeprefix("sha256:")
        try:
            data = zlib.decompress(self._file(name).read_bytes())
        except FileNotFoundError as error:
            raise self.gone(digest) from error
        except (OSError, zlib.error) as error:
            raise self.damaged(digest) from error
        if hashlib.sha256(data).hexdigest() != name:
            raise self.damaged(digest)
        return data

    def put_json(self, value: object) -> str:
        """Store a value as JSON and return its digest."""
        return self.put(json.dumps(value).encode())

    def get_json(self, digest: str) -> Any:  # noqa: ANN401 - JSON
        """Return the value of a digest."""
        return json.loads(self.get(digest))

    def files(self) -> list[Path]:
        """List the stored files; each is named by its digest."""
        return [file for file in self._folder.glob("??/*") if not file.name.startswith(".")]

    def torn(self) -> list[Path]:
        """List temporary files of interrupted writes and deletions, including those still in progress."""
        return [*self._folder.glob("??/.*")]

    def let_go(self, file: Path) -> bool:
        """Delete an unreferenced blob; return False if it was touched meanwhile."""
        seen = file.stat().st_mtime_ns
        doomed = file.with_name(f".{file.name}.going")
        file.rename(doomed)
        if doomed.stat().st_mtime_ns != seen:
            doomed.replace(file)
            return False
        doomed.unlink()
        return True

    def _holds(self, name: str, data: bytes) -> bool:
        """Return whether a blob is intact; a damaged blob is written again."""
        try:
            return self.get(name) == data
        except (NotFound, StoreFailed):
            return False

    def _file(self, name: str) -> Path:
        return self._folder / name[:2] / name

    @staticmethod
    def gone(digest: str) -> NotFound:
        """Return the error for a blob that is not there."""
        return NotFound(
            f"the output {digest[:19]} is not kept any more",
            why="Outputs are kept for a time, facts for longer.",
            next_step="`asbuilt run` produces it again, in a new run of its phase.",
        )

    @staticmethod
    def damaged(digest: str) -> StoreFailed:
        """Return the error for a blob whose content does not have its digest."""
        return StoreFailed(
            f"the output {digest[:19]} is damaged",
            why="Its content does not match its digest.",
            next_step="`asbuilt doctor` checks the disk; a new run of its phase produces it again.",
        )


class Aside(Blobs):
    """Blobs in a temporary folder on top of the stored blobs, which are only read."""

    def __init__(self, kept: Blobs, folder: Path) -> None:
        super().__init__(folder)
        self._kept = kept

    def get(self, digest: str) -> bytes:
        """Return the bytes of a digest, from either folder."""
        try:
            return super().get(digest)
        except NotFound:
            return self._kept.get(digest)
