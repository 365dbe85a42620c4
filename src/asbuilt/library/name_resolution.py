"""Resolve a plan's name: exact, then with .md, then as a unique part. Several matches are an error."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from stat import S_ISREG
from typing import Final
from unicodedata import normalize

from asbuilt.errors import NameMisspelt, NotFound, UsageWrong
from asbuilt.library.search_path import Library, PlanFile, describe, looked_in, plans
from asbuilt.plan.names import slug_of_file
from asbuilt.similar_names import nearest

_NAMES_SHOWN: Final = 8


def find(library: Library, name: str) -> PlanFile:
    """Find the plan that a user named."""
    file = _named_file(library, name)
    if file is not None:
        found = describe(library, file)
        return found if found.slug else found._replace(slug=_slug_in(library.start, file))
    every = [plan for plan in plans(library) if plan.slug]
    wanted = name.removesuffix(".md").casefold().replace("_", "-")
    paths = (name, f"{name}.md")
    exact = [plan for plan in every if wanted == plan.slug or plan.shown in paths]
    matches = exact or [plan for plan in every if wanted and wanted in plan.slug]
    if len(matches) == 1:
        return matches[0]
    if matches:
        listed = ", ".join(plan.shown for plan in matches)
        raise UsageWrong(
            f'"{name}" {"names" if exact else "is part of"} {len(matches)} plans: {listed}',
            why="Several plans match.",
            next_step="`asbuilt plan list` shows their names and paths.",
        )
    refuse_unusable(plans(library), name)
    raise _missing(library, name, every)


def _slug_in(start: Path, file: Path) -> str:
    """Return the slug of a file. The error renames it from the folder `start`."""
    folder = os.path.relpath(file.parent, start)
    return slug_of_file(file.name, "" if folder == os.curdir else folder)


def refuse_unusable(files: Iterable[PlanFile], name: str) -> None:
    """Raise if a name or a path is that of a plan file which commands cannot name."""
    wanted = normalize("NFC", name.removesuffix(".md"))
    for plan in files:
        known = (plan.shown.removesuffix(".md"), plan.file.stem)
        if not plan.slug and wanted in (normalize("NFC", text) for text in known):
            here = plan.file.parents[len(Path(plan.shown).parts) - 1]
            _slug_in(plan.file.parent if plan.shown.startswith("~") else here, plan.file)


def _named_file(library: Library, name: str) -> Path | None:
    path = Path(name)
    if name.startswith("~/"):
        path = library.user_folder.parent.parent / name.removeprefix("~/")
    file = library.start / path
    try:
        mode = file.stat().st_mode
    except (OSError, ValueError):  # missing, or not a valid file name; the search reports it better
        return None
    # Ignore a folder that happens to have a plan's name.
    is_path = "/" in name or name.endswith(".md") or S_ISREG(mode)
    return file if name and is_path else None


def _missing(library: Library, name: str, every: Sequence[PlanFile]) -> NotFound:
    slugs = list(dict.fromkeys(plan.slug for plan in every))
    wanted = Path(name).name.removesuffix(".md")
    if close := nearest(wanted, slugs):
        return NameMisspelt(
            f'no plan "{name}". Did you mean {close}?',
            typed=name,
            meant=close,
            why=f"Searched {looked_in(library)}.",
            next_step=f"`asbuilt plan show {close}`",
        )
    if not slugs:
        return NotFound(
            f'no plan "{name}"',
            why=f"No plan exists yet. Searched {looked_in(library)}.",
            next_step=f'`asbuilt plan new "what you want"{"" if library.repository else " --user"}`',
        )
    more = len(slugs) - _NAMES_SHOWN
    rest = f" and {more} more" if more > 0 else ""
    return NotFound(
        f'no plan "{name}"',
        why=f"Plans here: {', '.join(slugs[:_NAMES_SHOWN])}{rest}.",
        next_step="`asbuilt plan list`",
    )
