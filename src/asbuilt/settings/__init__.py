"""Settings: their registry, layers, files and values.

The highest layer that sets a key wins: command line, environment (`ASBUILT_LANDING_MODE`), repository
(`asbuilt.toml` or `[tool.asbuilt]` in `pyproject.toml`, never both), user file, organisation file, default.
Keys that the organisation's file lists in `locked = ["sandbox.required"]` override all layers. A repository
can only make some keys stricter.

Rule: an unknown key in a file, or an invalid value, is an error that names its place.
"""

from asbuilt.settings.layers import Chosen, Layer, Origin, Settings, load, survey
from asbuilt.settings.places import (
    Place,
    bytes_of,
    config_folder,
    data_folder,
    decoded,
    line_of,
    organisation_file,
    repository_place,
    state_folder,
    table_of,
    text_of,
    user_place,
)
from asbuilt.settings.registry import NAMED, SETTINGS
from asbuilt.settings.setting import Kind, ServiceTable, Setting, SuiteTable, Table, Value
from asbuilt.settings.values import from_text, presented, setting_named

__all__ = [
    "NAMED",
    "SETTINGS",
    "Chosen",
    "Kind",
    "Layer",
    "Origin",
    "Place",
    "ServiceTable",
    "Setting",
    "Settings",
    "SuiteTable",
    "Table",
    "Value",
    "bytes_of",
    "config_folder",
    "data_folder",
    "decoded",
    "from_text",
    "line_of",
    "load",
    "organisation_file",
    "presented",
    "repository_place",
    "setting_named",
    "state_folder",
    "survey",
    "table_of",
    "text_of",
    "user_place",
]
