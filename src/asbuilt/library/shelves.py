"""Where plans are looked for. Looking makes no folder and writes nothing; each shelf is listed once."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.errors import UsageWrong
from asbuilt.library.repository import find_repository, real
from asbuilt.plan.names import slug_of_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from asbuilt.library.repository import Repository

DEFAULT_FOLDER: Final = "plans"
# Relative to the repository; the neighbours' own places, so that their plans are found where they are.
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
    """A plan that is there: its file, and the name by which people call it."""

    file: Path
    shown: str
    """Its path as people read it: within the repository, else from the home folder or whole."""
    slug: str
    """What people type; several files may share it, since identity is repository and path."""
    repository: str
    """The repository's common folder, or empty for a plan outside any; with `shown` the plan's identity."""


class Library(NamedTuple):
    """The shelves that one command looks at."""

    start: Path
    repository: Repository | None
    folder: Path | None
    """Where new plans go; None outside a repository."""
    user_folder: Path
    refused: str | None
    """The chosen plans folder, if it leads out of the repository and was therefore not used."""


def open_library(start: Path, *, home: Path, folder: str = DEFAULT_FOLDER) -> Library:
    """Find the repository and its plans folder; one that leads out of the repository is refused."""
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
    """Tell whether a path stays under a root when links and `..` are followed; /proj-evil is not in /proj."""
    return real(path).is_relative_to(real(root))


def plans(library: Library) -> list[PlanFile]:
    """List every plan on the shelves, the repository's own folder first, each file once."""
    found: dict[Path, PlanFile] = {}
    for file, target in _files(library):
        if target not in found and not file.name.startswith(".") and file.is_file():
            found[target] = _describe(library, file, target)
    return list(found.values())


def looked_in(library: Library) -> str:
    """Name the shelves for a message, those that can hold something here."""
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
        # A link out of the repository is somebody else's file, whatever its name says.
        yield from ((file, target) for file in own if (target := real(file)).is_relative_to(root))
    yield from ((file, real(file)) for file in sorted(library.user_folder.glob("*.md")))


def describe(library: Library, file: Path) -> PlanFile:
    """Name a file as people see it; a link that leads out of the repository by what it leads to."""
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
    """Name a plan by its file; specs/003-login/tasks.md by its folder, since every tasks.md is called so."""
    by_folder = (f"{file.parent.name}.md",) if file.name in _NAMED_BY_FOLDER else ()
    for name in (*by_folder, file.name):
        with suppress(UsageWrong):
            return slug_of_file(name)
    return ""
