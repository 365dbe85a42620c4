"""Trees as data: the names of their files, and the texts of some."""

from __future__ import annotations

from asbuilt.proof.projects.index import wanted
from asbuilt.proof.projects.model import Project


def tree(*names: str, **texts: str) -> Project:
    """A tree of these files; of a text's name, `__` is a slash and `_` a dot."""
    return of({**dict.fromkeys(names, ""), **{_path(name): text for name, text in texts.items()}})


def of(files: dict[str, str]) -> Project:
    """A tree of these files, of which only the wanted ones are read."""
    names = {name: f"object of {name}: {text}" for name, text in files.items()}
    return Project(names, {name: files[name] for name in wanted(names)})


def _path(name: str) -> str:
    return name.replace("__", "/").replace("_", ".")
