"""How texts are cut to the columns that they have."""

from __future__ import annotations

from asbuilt.cli.ui.columns import shorten_sentence
from asbuilt.cli.ui.symbols import UNICODE


def test_a_sentence_is_cut_behind_a_whole_word() -> None:
    assert shorten_sentence("two changes conflict", 20, UNICODE) == "two changes conflict"
    assert shorten_sentence("two changes conflict", 16, UNICODE) == "two changes…"
    assert shorten_sentence("two changes conflict", 12, UNICODE) == "two changes…"
    assert shorten_sentence("conflict", 5, UNICODE) == "conf…"
