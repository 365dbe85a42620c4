"""A folder has at most 15 modules, and no modules import each other in a circle, also not for their types."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCE = Path(__file__).parents[2] / "src"
LIMIT = 15
ONE_KIND = frozenset({"asbuilt/cli/commands"})
"""Folders of one kind of thing, a file for each: a command is found by its name however many there are."""


def crowded(source: Path) -> dict[str, int]:
    """Count the modules of each folder that has too many."""
    folders = {file.parent for file in source.rglob("*.py")}
    counts = {folder.relative_to(source).as_posix(): len([*folder.glob("*.py")]) - 1 for folder in folders}
    return {name: count for name, count in counts.items() if count > LIMIT and name not in ONE_KIND}


def imports_in(file: Path, modules: dict[str, Path]) -> Iterator[str]:
    """Name the modules of ours that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (name if name in modules else node.module for name in names)


def circle(source: Path) -> list[str]:
    """Name the modules of one circle of imports, of any length."""
    modules = {
        ".".join(file.relative_to(source).with_suffix("").parts): file for file in source.rglob("*.py")
    }
    try:
        TopologicalSorter({name: set(imports_in(file, modules)) for name, file in modules.items()}).prepare()
    except CycleError as error:
        return sorted(set(error.args[1]))
    return []


def test_a_reader_finds_a_file_in_its_folder() -> None:
    assert crowded(SOURCE) == {}


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert circle(SOURCE) == []


def test_a_full_folder_and_a_circle_are_found(tmp_path: Path) -> None:
    folder = tmp_path / "asbuilt" / "plan"
    folder.mkdir(parents=True)
    for number in range(LIMIT + 2):
        (folder / f"part{number}.py").write_text("", encoding="utf-8")
    (folder / "part1.py").write_text("from asbuilt.plan import part2", encoding="utf-8")
    (folder / "part2.py").write_text("import asbuilt.plan.part3", encoding="utf-8")
    (folder / "part3.py").write_text("if TYPE_CHECKING:\n    import asbuilt.plan.part1", encoding="utf-8")
    names = [f"asbuilt.plan.part{number}" for number in (1, 2, 3)]
    assert (crowded(tmp_path), circle(tmp_path)) == ({"asbuilt/plan": LIMIT + 1}, names)
