"""A home, a repository and an organisation whose files choose settings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from asbuilt.settings import (
    Layer,
    ServiceTable,
    Setting,
    Settings,
    SuiteTable,
    Table,
    Value,
    load,
    survey,
)

if TYPE_CHECKING:
    from pathlib import Path


def toml(value: Value | Table) -> str:
    if isinstance(value, SuiteTable | ServiceTable):
        return "{" + ", ".join(f"{name} = {toml(part)}" for name, part in value._asdict().items()) + "}"
    if isinstance(value, tuple):
        return "[" + ", ".join(toml(one) for one in value) + "]"
    return json.dumps(value, ensure_ascii=False)


class World:
    """A home, a repository and an organisation in a folder that goes away."""

    def __init__(self, folder: Path) -> None:
        self.repository = folder / "shop-api"
        self.repository.mkdir()
        self.user = folder / "home" / ".config" / "asbuilt" / "config.toml"
        self.user.parent.mkdir(parents=True)
        self.organisation = folder / "organisation.toml"
        self.environ = {
            "HOME": str(folder / "home"),
            "ASBUILT_ORGANISATION_FILE": str(self.organisation),
        }

    def set(self, layer: Layer, setting: Setting, value: Value) -> None:
        line = f"{setting.key} = {toml(value)}\n"
        match layer:
            case Layer.ENVIRONMENT:
                self.environ[setting.variable] = value if isinstance(value, str) else toml(value)
            case Layer.REPOSITORY:
                (self.repository / "asbuilt.toml").write_text(line, encoding="utf-8")
            case Layer.USER:
                self.user.write_text("# mine\n" + line, encoding="utf-8")
            case Layer.ORGANISATION:
                self.organisation.write_text(line, encoding="utf-8")
            case Layer.DEFAULT:
                raise ValueError(layer)

    def load(self) -> Settings:
        return load(repository=self.repository, environ=self.environ)

    def problems(self) -> list[str]:
        _, problems = survey(repository=self.repository, environ=self.environ)
        return [problem.what for problem in problems]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)
