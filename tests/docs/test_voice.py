"""The lint of the prose finds a banned phrase where people read it, and leaves code alone."""

from __future__ import annotations

import importlib.util
from pathlib import Path

_SCRIPT = Path(__file__).parents[2] / "scripts" / "voice.py"


def test_a_banned_phrase_is_found_in_a_docstring_and_a_comment_and_not_in_code() -> None:
    spec = importlib.util.spec_from_file_location("voice", _SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    voice = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(voice)
    text = '"""Starts.\n\nIs gone on with, and `anew` stays."""\nanew = "once more"  # whoever reads\n'
    assert [*voice.found_in(text)] == [
        (3, "gone on with", "resume, continue"),
        (4, "whoever", "the user, another worker, no worker"),
    ]
