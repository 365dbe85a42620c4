"""Settings: their registry, layers, files and values.

The highest layer that sets a key wins: environment (`ASBUILT_LANDING_MODE`), repository
(`asbuilt.toml` or `[tool.asbuilt]` in `pyproject.toml`, never both), user file, organisation file, default.
Keys that the organisation's file lists in `locked = ["sandbox.required"]` override all layers. A repository
can only make some keys stricter.

Rule: an unknown key in a file, or an invalid value, is an error that names its place.
"""

from asbuilt.settings.files import Place, user_place
from asbuilt.settings.layers import Chosen, Layer, Settings, load, survey
from asbuilt.settings.registry import NAMED, SETTINGS
from asbuilt.settings.setting import Kind, ServiceTable, Setting, SuiteTable, Table, Value
from asbuilt.settings.user_folders import config_folder, data_folder, state_folder
from asbuilt.settings.values import accepted, from_text, presented, setting_named

__all__ = [
    "NAMED",
    "SETTINGS",
    "Chosen",
    "Kind",
    "Layer",
    "Place",
    "ServiceTable",
    "Setting",
    "Settings",
    "SuiteTable",
    "Table",
    "Value",
    "accepted",
    "config_folder",
    "data_folder",
    "from_text",
    "load",
    "presented",
    "setting_named",
    "state_folder",
    "survey",
    "user_place",
]
