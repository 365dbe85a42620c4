"""A `TYPE_CHECKING` guard saves time at a start. One around what the module loads anyway saves nothing."""

from __future__ import annotations

import ast
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src"
HOOK = ("asbuilt.hook", "asbuilt.policy", "asbuilt.session")
"""A hook runs for every tool call, so that one import more counts there."""


def idle(source: Path) -> dict[str, set[str]]:
    """Name the modules of ours that a module imports for types only, and loads in any case."""
    bodies = {
        ".".join(file.relative_to(source).with_suffix("").parts).removesuffix(".__init__"): ast.parse(
            file.read_bytes()
        ).body
        for file in source.rglob("*.py")
    }

    def imports(body: list[ast.stmt]) -> set[str]:
        found = [node for node in body if isinstance(node, ast.ImportFrom)]
        names = {(node.module or "", f"{node.module}.{alias.name}") for node in found for alias in node.names}
        return {name if name in bodies else module for module, name in names} & bodies.keys()

    at_once = {module: imports(body) for module, body in bodies.items()}

    def loaded(module: str) -> set[str]:
        seen: set[str] = set()
        waiting = [module]
        while waiting:
            new = at_once[waiting.pop()] - seen
            seen |= new
            waiting += new
        return seen

    guarded = {
        module: imports(node.body)
        for module, body in bodies.items()
        for node in body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    }
    found = {module: names & loaded(module) for module, names in guarded.items()}
    return {module: names for module, names in found.items() if names and not module.startswith(HOOK)}


def test_a_guard_hides_only_what_is_not_loaded_anyway() -> None:
    assert idle(SOURCE) == {}, "import it without the guard"


def test_a_guard_around_what_another_import_loads_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "asbuilt" / "plan"
    folder.mkdir(parents=True)
    (folder / "model.py").write_text("class Plan: ...\n", encoding="utf-8")
    (folder / "reader.py").write_text("from asbuilt.plan.model import Plan\n", encoding="utf-8")
    (folder / "lint.py").write_text(
        "from asbuilt.plan import reader\nif TYPE_CHECKING:\n    from asbuilt.plan.model import Plan\n",
        encoding="utf-8",
    )
    assert idle(tmp_path) == {"asbuilt.plan.lint": {"asbuilt.plan.model"}}
