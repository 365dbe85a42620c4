"""The search path of plans. Listing creates no folder and writes nothing; every file is listed once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from asbuilt.errors import UsageWrong
from asbuilt.library.repository_discovery import Repository, find_repository, real
from asbuilt.plan.names import slug_of_file
from asbuilt.settings import Settings, load
from asbuilt.settings.user_folders import home_of

DEFAULT_FOLDER: Final = "plans"
# Relative to the repository; the places of other tools, so that their plans are found.
_PATTERNS: Final = (
    "docs/plans/*.md",
    "docs/plans/completed/*.md",
    "docs/superpowers/plans/*.md",
    "specs/*/plans/*.md",
    "specs/*/tasks.md",
    "openspec/changes/*/tasks.md",
    "task_plan.md",
)
_USER: Final = (".claude", "plans")
_NAMED_BY_FOLDER: Final = frozenset({"tasks.md", "plan.md"})


class PlanFile(NamedTuple):
    """A plan file and its name."""

    file: Path
    shown: str
    """Its path for display: relative to the repository, else to the home folder, else absolute."""
    slug: str
    """The name that users type; several files may share it, since identity is repository and path."""
    repository: str
    """The repository's common folder, or empty outside any; with `shown` the plan's identity."""

    @property
    def changed_at(self) -> float:
        """Modification time of the file; 0 if it was deleted since it was listed."""
        try:
            return self.file.stat().st_mtime
        except OSError:
            return 0.0


class Library(NamedTuple):
    """The search path of a command."""

    start: Path
    repository: Repository | None
    folder: Path | None
    """Folder of new plans; None outside a repository."""
    user_folder: Path
    refused: str | None
    """The configured plans folder, if it is outside the repository and therefore ignored."""


def library_around(start: Path, environ: Mapping[str, str]) -> tuple[Library, Settings]:
    """Open the library around a folder, and load the settings that apply there."""
    repository = find_repository(start)
    settings = load(repository=repository.root if repository else None, environ=environ)
    return open_library(start, home=home_of(environ), folder=settings.text("plans.folder")), settings


def open_library(start: Path, *, home: Path, folder: str = DEFAULT_FOLDER) -> Library:
    """Find the repository and its plans folder; a folder outside the repository is ignored."""
    repository = find_repository(start)
    chosen, refused = None, None
    if repository is not None:
        chosen = repository.root / folder
        if not is_inside(chosen, repository.root):
            chosen, refused = repository.root / DEFAULT_FOLDER, folder
    return Library(
        start=start, repository=repository, folder=chosen, user_folder=home.joinpath(*_USER), refused=refused
    )


def is_inside(path: Path, root: Path) -> bool:
    """Return whether a path is under a root after resolving symlinks and `..`; /proj-evil is not in /proj."""
    return real(path).is_relative_to(real(root))


def plans(library: Library) -> list[PlanFile]:
    """List every plan on the search path, the repository's own folder first, each file once."""
    found: dict[Path, PlanFile] = {}
    for file, target in _files(library):
        if target not in found and not file.name.startswith(".") and file.is_file():
            found[target] = _describe(library, file, target)
    return list(found.values())


def looked_in(library: Library) -> str:
    """Return the search path for a message, without places that do not apply here."""
    own = f"~/{'/'.join(_USER)}/"
    if library.repository is None or library.folder is None:
        return f"{own}; no repository is around this folder"
    folder = library.folder.relative_to(library.repository.root).as_posix()
    folders = dict.fromkeys((folder, DEFAULT_FOLDER, "docs/plans", "specs", "openspec/changes"))
    return ", ".join(f"{name}/" for name in folders) + f" and {own}"


def _files(library: Library) -> Iterator[tuple[Path, Path]]:
    if library.repository is not None and library.folder is not None:
        root = library.repository.root
        own = sorted(library.folder.glob("*.md"))
        for pattern in (f"{DEFAULT_FOLDER}/*.md", *_PATTERNS):
            own += sorted(root.glob(pattern))
        # A symlink out of the repository is not the repository's file.
        yield from ((file, target) for file in own if (target := real(file)).is_relative_to(root))
    yield from ((file, real(file)) for file in sorted(library.user_folder.glob("*.md")))


def describe(library: Library, file: Path) -> PlanFile:
    """Describe a file; a symlink out of the repository is described by its target."""
    absolute = library.start / file
    return _describe(library, absolute, real(absolute))


def _describe(library: Library, file: Path, target: Path) -> PlanFile:
    repository = library.repository
    if repository is not None and target.is_relative_to(repository.root):
        within = real(file.parent) / file.name if file.is_symlink() else target
        shown = within if within.is_relative_to(repository.root) else target
        path, identity = shown.relative_to(repository.root).as_posix(), str(repository.common)
    else:
        home = real(library.user_folder.parent.parent)
        path = f"~/{target.relative_to(home).as_posix()}" if target.is_relative_to(home) else str(target)
        identity = ""
    return PlanFile(file=file, shown=path, slug=_slug(file), repository=identity)


def _slug(file: Path) -> str:
    """Return a plan's slug from its file's name; for specs/003-login/tasks.md from its folder's."""
    by_folder = (f"{file.parent.name}.md",) if file.name in _NAMED_BY_FOLDER else ()
    for name in (*by_folder, file.name):
        with suppress(UsageWrong):
            return slug_of_file(name)
    return ""
