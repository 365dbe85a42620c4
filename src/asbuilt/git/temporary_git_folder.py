"""A temporary git folder for one task. Rule: no setting, filter or hook of the repository has an effect.

The folder uses the repository's objects and nothing else. Files are read from and written to a tree byte for
byte: `info/attributes`, which outranks all other attributes, turns off `filter`, `eol`, `ident` and
encodings.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from asbuilt.git.command import Git

if TYPE_CHECKING:
    from asbuilt.git.repository import Repository

_CACHES: Final = """\
__pycache__/
*.py[co]
.pytest_cache/
.mypy_cache/
.ruff_cache/
.hypothesis/
.tox/
.nox/
.venv/
node_modules/
.nyc_output/
.eslintcache
.stylelintcache
*.tsbuildinfo
.parcel-cache/
.turbo/
"""
"""Caches that tools leave behind; they are not work. The repository's own .gitignore outranks this list."""
_RAW: Final = "* -text -ident -filter -working-tree-encoding !eol\n"


@contextmanager
def quiet(
    repository: Repository,
    *,
    work_tree: Path | None = None,
    index: Path | None = None,
    held: tuple[int, ...] = (),
) -> Iterator[Git]:
    """Yield a `Git` with a private index and private settings; its folder is deleted afterwards.

    `held` are file descriptors with a lock on a folder. Git inherits them, so the lock lasts until git ends
    even if this process dies first.
    """
    with tempfile.TemporaryDirectory(prefix="asbuilt-git-", ignore_cleanup_errors=True) as made:
        folder = Path(made)
        for name in ("objects", "refs", "info"):
            (folder / name).mkdir()
        (folder / "HEAD").write_text("ref: refs/heads/none\n", encoding="ascii")
        (folder / "config").write_text(settings_of(repository, bare=work_tree is None), encoding="ascii")
        (folder / "info" / "attributes").write_text(_RAW, encoding="ascii")
        exclude = repository.common / "info" / "exclude"
        theirs = exclude.read_bytes() if exclude.is_file() else b""
        (folder / "info" / "exclude").write_bytes(_CACHES.encode("ascii") + theirs)
        place = Git(
            git_dir=folder,
            work_tree=work_tree,
            index=index if index is not None else folder / "index",
            objects=repository.common / "objects",
            descriptors=held,
            settings=(("core.excludesFile", str(repository.excludes)),) if repository.excludes else (),
        )
        yield place


def settings_of(repository: Repository, *, bare: bool) -> str:
    """Return the config file of a private git folder."""
    lines = [
        "[core]",
        f"\trepositoryformatversion = {int(repository.object_format != 'sha1')}",
        f"\tbare = {str(bare).lower()}",
        f"\tfilemode = {str(repository.file_mode).lower()}",
        "\tignorecase = false",
        "\tautocrlf = false",
        "\tsafecrlf = false",
        # Names that only Windows or macOS would take for `.git` are ordinary files in a snapshot.
        "\tprotectNTFS = false",
        "\tprotectHFS = false",
    ]
    if repository.object_format != "sha1":
        lines += ["[extensions]", f"\tobjectFormat = {repository.object_format}"]
    return "\n".join(lines) + "\n"
