"""Put rendered files where an agent looks for them, and take them away again.

The one rule: a file is replaced or removed only while it is as we left it; a record knows that by digests.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from asbuilt.cli.commands.init.registering import Registration
from asbuilt.errors import NameTaken
from asbuilt.library.reading import read_bytes
from asbuilt.library.writing import create, replace
from asbuilt.plan.markdown.source import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_VERSION: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What we have put somewhere for one agent."""

    files: Mapping[str, tuple[str, ...]]
    """By path, the digests under which a file counts as ours."""
    settings: Mapping[str, Registration]
    """By the path of a settings file."""


class Placed(NamedTuple):
    """What became of the files."""

    written: tuple[Path, ...]
    removed: tuple[Path, ...]
    left: tuple[Path, ...]
    """They were changed by somebody, so they stay."""


NONE_PLACED: Final = Placed((), (), ())
NOTHING: Final = Record(files={}, settings={})


def read_record(file: Path) -> Record:
    """Read a record; one that cannot be read knows nothing, so that nothing is taken for ours."""
    try:
        kept: dict[str, Any] = json.loads(file.read_bytes())
        files = {path: tuple(digests) for path, digests in kept["files"].items()}
        settings = {path: Registration.of(one) for path, one in kept["settings"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return NOTHING
    return Record(files=files, settings=settings)


def keep_record(file: Path, record: Record) -> None:
    """Keep a record; one that knows nothing is no file."""
    if not record.files and not record.settings:
        file.unlink(missing_ok=True)
        return
    kept = {
        "v": _VERSION,
        "files": {path: list(digests) for path, digests in record.files.items()},
        "settings": {path: one.as_json() for path, one in record.settings.items()},
    }
    put(file, (json.dumps(kept, indent=1) + "\n").encode())


def put(file: Path, data: bytes) -> None:
    """Write a file of ours, whether it is there or not."""
    before = content(file)
    if before is None:
        create(file, data)
    elif before != data:
        replace(file, data, expected=digest(before))


def content(file: Path) -> bytes | None:
    """Read a file; None: it is not there."""
    return read_bytes(file) if file.exists() else None


def changes(files: Mapping[Path, bytes], record: Record, shown: Callable[[Path], str]) -> Placed:
    """Say what placing them would do; a file of that name that is not ours is refused."""
    written: list[Path] = []
    for file, data in files.items():
        before = content(file)
        if before is not None and before != data and digest(before) not in record.files.get(str(file), ()):
            raise NameTaken(
                f"{shown(file)} is there, and it is not as asbuilt wrote it",
                why="Nothing of yours is ever overwritten.",
                next_step="Move it away, then repeat the command.",
            )
        if before != data:
            written.append(file)
    gone = [path for path in map(Path, record.files) if path not in files]
    return Placed(tuple(written), *_parted(gone, record))


def place(files: Mapping[Path, bytes], planned: Placed, top: Path, record: Record, keep: Path) -> Record:
    """Write the files, remove those of ours that are no longer among them, and keep the record in `keep`."""
    ours = {str(file): (digest(data),) for file, data in files.items()}
    both = {path: (*ours.get(path, ()), *record.files.get(path, ())) for path in {**record.files, **ours}}
    # The record comes first: what a killed command has written must be known as ours.
    keep_record(keep, Record(files=both, settings=record.settings))
    for file in planned.written:
        put(file, files[file])
    _unlink(planned.removed, top)
    after = Record(files=ours, settings=record.settings)
    keep_record(keep, after)
    return after


def would_take(record: Record) -> Placed:
    """Say what taking them away would do."""
    return Placed((), *_parted(map(Path, record.files), record))


def take_away(top: Path, record: Record, keep: Path) -> Placed:
    """Remove every file that is still as we left it."""
    planned = would_take(record)
    _unlink(planned.removed, top)
    keep_record(keep, Record(files={}, settings=record.settings))
    return planned


def _parted(paths: Iterable[Path], record: Record) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    there = [(path, before) for path in paths if (before := content(path)) is not None]
    ours = [path for path, before in there if digest(before) in record.files[str(path)]]
    return tuple(ours), tuple(path for path, _ in there if path not in ours)


def _unlink(files: Iterable[Path], top: Path) -> None:
    for file in files:
        file.unlink(missing_ok=True)
        folders = [folder for folder in file.parents if top in folder.parents]
        with suppress(OSError):  # something else is in it
            for folder in folders:
                folder.rmdir()
