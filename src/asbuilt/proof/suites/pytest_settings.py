"""Settings of pytest and coverage, from any of the files that can contain them."""

from __future__ import annotations

import configparser
import re
from collections.abc import Iterable
from typing import Any, Final

from asbuilt.proof.projects.manifests import table, toml
from asbuilt.proof.suites.model import Kind, Severity
from asbuilt.proof.suites.weakened_test_command import PartialFinding, options_compared

Settings = dict[str, tuple[str, ...]]
_COLLECTING: Final = {
    "python_files": ("test_*.py", "*_test.py"),
    "python_classes": ("Test",),
    "python_functions": ("test",),
}
_HARMLESS: Final = re.compile(
    r"^(markers|minversion|log_\w+|junit\w*|console_output_style|cache_dir|asyncio_\w+|pythonpath|verbosity\w*|tmp_path\w*|"
    r"faulthandler\w*|consider_namespace_packages|truncation\w*|strict\w*|env|doctest\w*|django\w*|DJANGO\w*)$"
)
FILES: Final = ("pytest.ini", ".pytest.ini", "pytest.toml", "pyproject.toml", "tox.ini", "setup.cfg")


def settings_in(path: str, data: bytes | None) -> Settings:
    """Read pytest's settings from a file; empty if there are none."""
    name = path.rpartition("/")[2]
    text = (data or b"").decode("utf-8", "replace")
    if name not in FILES or not text:
        return {}
    if name.endswith(".toml"):
        return _from_toml(text, name)
    sections = ini_sections(text)
    own = sections.get("tool:pytest" if name == "setup.cfg" else "pytest", {})
    found = {key: tuple(value.split("\n") if "\n" in value else value.split()) for key, value in own.items()}
    found = {key: tuple(word.strip() for word in value if word.strip()) for key, value in found.items()}
    if "addopts" in own:
        found["addopts"] = tuple(own["addopts"].split())
    for section in ("coverage:report", "report"):
        if "fail_under" in sections.get(section, {}):
            found["coverage fail_under"] = (sections[section]["fail_under"],)
    return found


def ini_sections(text: str) -> dict[str, dict[str, str]]:
    """Parse an ini file; an invalid one reads as empty."""
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string(text)
    except configparser.Error:
        return {}
    return {name: {key: value or "" for key, value in parser.items(name)} for name in parser.sections()}


def _from_toml(text: str, name: str) -> Settings:
    tool = table(toml(text), "tool") if name == "pyproject.toml" else toml(text)
    own: dict[str, Any] = {**table(tool, "pytest"), **table(tool, "pytest", "ini_options")}
    found = {
        key: tuple(map(str, value)) if isinstance(value, list) else tuple(str(value).split("\n"))
        for key, value in own.items()
        if not isinstance(value, dict)
    }
    if isinstance(own.get("addopts"), str):
        found["addopts"] = tuple(own["addopts"].split())
    report = table(tool, "coverage", "report") if name == "pyproject.toml" else {}
    if "fail_under" in report:
        found["coverage fail_under"] = (str(report["fail_under"]),)
    return found


def compared(before: Settings, after: Settings, moved: Iterable[str]) -> list[PartialFinding]:
    """List how settings are worse than before. `moved` has the folders that tests were moved to."""
    findings = options_compared(list(before.get("addopts", ())), list(after.get("addopts", ())))
    for key in sorted({*before, *after} - {"addopts"}):
        old, new = before.get(key, ()), after.get(key, ())
        if old != new:
            findings += _setting(key, old, new, tuple(moved))
    return findings


def _setting(
    key: str, old: tuple[str, ...], new: tuple[str, ...], moved: tuple[str, ...]
) -> list[PartialFinding]:
    words = f"{key} = {' '.join(new)}" if new else f"{key} is gone"
    if key == "testpaths":
        gone = set(old) - set(new)
        if gone and set(new) - set(old) and set(moved) & set(new):
            return [(Kind.NOT_COLLECTED, Severity.NOTE, words)]
        if gone and new:
            return [(Kind.NOT_COLLECTED, Severity.FAILS, words)]
        return [(Kind.NOT_COLLECTED, Severity.SIGN_OFF, words)] if new and not old else []
    if key in _COLLECTING:
        lost = set(old or _COLLECTING[key]) - set(new or _COLLECTING[key])
        return [(Kind.NOT_COLLECTED, Severity.FAILS, words)] if lost else []
    if key == "norecursedirs" or key.startswith("collect_ignore"):
        added = set(new) - set(old)
        severity = Severity.FAILS if any("test" in word for word in added) else Severity.SIGN_OFF
        return [(Kind.NOT_COLLECTED, severity, words)] if added else []
    if key == "xfail_strict":
        is_strict = [value[:1] and value[0].casefold() in ("true", "1", "yes", "on") for value in (old, new)]
        return [(Kind.RUNNER_CHANGED, Severity.FAILS, words)] if is_strict[0] and not is_strict[1] else []
    if key == "filterwarnings":
        if "error" in old and "error" not in new:
            return [(Kind.RUNNER_CHANGED, Severity.FAILS, words)]
        return [(Kind.RUNNER_CHANGED, Severity.SIGN_OFF, words)] if set(new) - set(old) else []
    if key == "coverage fail_under":
        is_less = not new or float_of(new[0]) < float_of(old[0] if old else "0")
        return [(Kind.TOLERANCE_LOOSENED, Severity.FAILS, words)] if is_less else []
    return [] if _HARMLESS.match(key) else [(Kind.RUNNER_CHANGED, Severity.SIGN_OFF, words)]


def float_of(text: str) -> float:
    """Parse a number; 0 if it is none."""
    try:
        return float(text)
    except ValueError:
        return 0.0
