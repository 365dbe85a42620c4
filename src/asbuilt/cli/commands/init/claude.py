"""Add the rendered plugin to the user's Claude Code settings, or remove it. Two entries change."""

from __future__ import annotations

from dataclasses import replace as with_fields
from typing import TYPE_CHECKING, NamedTuple

from asbuilt.cli.commands.init.members import NotAnObject
from asbuilt.cli.commands.init.placing import Record, content, keep_record
from asbuilt.cli.commands.init.registering import AnotherMarketplace, Registration, register, unregister
from asbuilt.errors import SettingsNotWritten
from asbuilt.library.writing import create, replace
from asbuilt.plan.markdown.source import digest

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.cli.commands.init.seats import Seat


class Rewrite(NamedTuple):
    """The planned change of a settings file."""

    before: str | None
    after: str | None
    """None: no file."""
    kept: Registration | None


def naming(seat: Seat, file: Path) -> Rewrite:
    """Plan the change that adds the plugin to the settings."""
    name, kept = seat.shown(file), seat.record.settings.get(str(file))
    before = _text(file, name)
    try:
        after, kept = register(before, str(seat.folder), kept)
    except NotAnObject as error:
        raise _not_written(name, error) from error
    except AnotherMarketplace as error:
        raise SettingsNotWritten(
            f"{name} knows another marketplace that is named asbuilt",
            why="Its plugin would be the one that is used.",
            next_step="`claude plugin marketplace remove asbuilt`, then repeat the command.",
        ) from error
    return Rewrite(before, after, kept)


def forgetting(seat: Seat, file: Path) -> Rewrite:
    """Plan the change that removes the plugin from the settings."""
    name = seat.shown(file)
    before = _text(file, name)
    if before is None:
        return Rewrite(None, None, None)
    try:
        after = unregister(before, str(seat.folder), seat.record.settings.get(str(file)))
    except NotAnObject as error:
        raise _not_written(name, error) from error
    return Rewrite(before, after, None)


def rewrite(file: Path, planned: Rewrite, record: Record, keep: Path) -> Record:
    """Apply the change if the file is unchanged since it was read, and record how to undo it."""
    others = {path: one for path, one in record.settings.items() if path != str(file)}
    after = with_fields(record, settings={**others, str(file): planned.kept} if planned.kept else others)
    if planned.kept:
        # Write the record first, so that the entries of a killed command can be removed.
        keep_record(keep, after)
    if planned.before is None and planned.after is not None:
        create(file, planned.after.encode())
    elif planned.before is not None and planned.after != planned.before:
        replace(file, (planned.after or "").encode(), expected=digest(planned.before.encode()))
        if planned.after is None:
            file.unlink()
    keep_record(keep, after)
    return after


def _text(file: Path, name: str) -> str | None:
    before = content(file)
    try:
        return None if before is None else before.decode()
    except UnicodeDecodeError as error:
        raise _not_written(name, error) from error


def _not_written(name: str, error: ValueError) -> SettingsNotWritten:
    said = str(error) if isinstance(error, NotAnObject) else "it is not UTF-8"
    return SettingsNotWritten(
        f"{name} cannot be read as JSON: {said}",
        why="Claude Code ignores such a file as a whole, and what we add to it would be lost.",
        next_step="Correct it there, then repeat the command. Nothing was changed.",
    )
