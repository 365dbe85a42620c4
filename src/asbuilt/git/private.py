"""A git folder of our own for one task. The one rule: no setting, filter or hook of a repository counts.

It borrows the repository's objects and nothing else. Files come out of a tree, and go into one, byte for
byte: `filter`, `eol`, `ident` and encodings are switched off by the attributes file that outranks all others.
"""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from asbuilt.git.command import Git

if TYPE_CHECKING:
    from collections.abc import Iterator

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
"""What programs leave for their next run is nobody's work; a repository's own .gitignore outranks this."""
_RAW: Final = "* -text -ident -filter -working-tree-encoding !eol\n"


@contextmanager
def quiet(
    repository: Repository,
    *,
    work_tree: Path | None = None,
    index: Path | None = None,
    held: tuple[int, ...] = (),
) -> Iterator[Git]:
    """Lend a place whose index and settings are private; it is gone afterwards.

    `held` are open files that hold a folder, which git holds on should we die before it ends.
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
    """Write the settings of a git folder of our own."""
    lines = [
        "[core]",
        f"\trepositoryformatversion = {int(repository.object_format != 'sha1')}",
        f"\tbare = {str(bare).lower()}",
        f"\tfilemode = {str(repository.file_mode).lower()}",
        "\tignorecase = false",
        "\tautocrlf = false",
        "\tsafecrlf = false",
        # Names that only Windows or macOS would mistake for `.git` are files like others in a snapshot.
        "\tprotectNTFS = false",
        "\tprotectHFS = false",
    ]
    if repository.object_format != "sha1":
        lines += ["[extensions]", f"\tobjectFormat = {repository.object_format}"]
    return "\n".join(lines) + "\n"
