"""Write rendered files to an agent's folder, and remove them.

Rule: a file is replaced or removed only if its digest is in the record, so that the user's edits are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import Final, NamedTuple

from msgspec import MsgspecError, Struct, json

from asbuilt.cli.commands.init.registering import Registration
from asbuilt.errors import NameTaken
from asbuilt.library.atomic_files import create, replace
from asbuilt.library.bounded_read import read_bytes
from asbuilt.plan.markdown.source import digest


class Record(Struct, frozen=True, kw_only=True):
    """What asbuilt has written for an agent."""

    v: int = 1
    files: Mapping[str, tuple[str, ...]]
    """By path: the digests under which a file counts as ours."""
    settings: Mapping[str, Registration]
    """By the path of a settings file."""


class Placed(NamedTuple):
    """What happened to the files."""

    written: tuple[Path, ...]
    removed: tuple[Path, ...]
    left: tuple[Path, ...]
    """Files that were changed by others, so they stay."""


NONE_PLACED: Final = Placed((), (), ())
NOTHING: Final = Record(files={}, settings={})


def read_record(file: Path) -> Record:
    """Read a record. An unreadable record counts as empty, so that no file is taken for ours."""
    try:
        return json.decode(file.read_bytes(), type=Record)
    except (OSError, MsgspecError):
        return NOTHING


def keep_record(file: Path, record: Record) -> None:
    """Write a record; an empty record deletes the file."""
    if not record.files and not record.settings:
        file.unlink(missing_ok=True)
        return
    put(file, json.format(json.encode(record), indent=1) + b"\n")


def put(file: Path, data: bytes, *, name: str = "") -> None:
    """Write one of our files, new or existing."""
    before = content(file)
    if before is None:
        create(file, data, name=name)
    elif before != data:
        replace(file, data, expected=digest(before), name=name)


def content(file: Path) -> bytes | None:
    """Read a file; None: missing."""
    return read_bytes(file) if file.exists() else None


def changes(files: Mapping[Path, bytes], record: Record, shown: Callable[[Path], str]) -> Placed:
    """Return what placing the files would do. Raise if a file of that name is not ours."""
    written: list[Path] = []
    for file, data in files.items():
        before = content(file)
        if before is not None and before != data and digest(before) not in record.files.get(str(file), ()):
            raise NameTaken(
                f"{shown(file)} exists, and it was changed since asbuilt wrote it",
                why="Nothing of yours is ever overwritten.",
                next_step=f"`mv {quote(str(file))} {quote(f'{file}.old')}`, then repeat the command.",
            )
        if before != data:
            written.append(file)
    gone = [path for path in map(Path, record.files) if path not in files]
    return Placed(tuple(written), *_parted(gone, record))


def place(files: Mapping[Path, bytes], planned: Placed, top: Path, record: Record, keep: Path) -> Record:
    """Write the files, remove our files that are no longer among them, and store the record in `keep`."""
    ours = {str(file): (digest(data),) for file, data in files.items()}
    both = {path: (*ours.get(path, ()), *record.files.get(path, ())) for path in {**record.files, **ours}}
    # Write the record first, so that the files of a killed command are known as ours.
    keep_record(keep, Record(files=both, settings=record.settings))
    for file in planned.written:
        put(file, files[file])
    _unlink(planned.removed, top)
    after = Record(files=ours, settings=record.settings)
    keep_record(keep, after)
    return after


def would_take(record: Record) -> Placed:
    """Return what removing the files would do."""
    return Placed((), *_parted(map(Path, record.files), record))


def take_away(top: Path, record: Record, keep: Path) -> Placed:
    """Remove every file that is still as we wrote it."""
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
        with suppress(OSError):  # the folder is not empty
            for folder in folders:
                folder.rmdir()
