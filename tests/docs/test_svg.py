"""The pictures show what the terminal shows: every letter once, in its place and its colour."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from tests.docs.scripts import script

svg = script("svg")
STYLES = {"": ("ink", None), "\x1b[1m": ("ink", "bold"), "\x1b[31m": ("red", None), "\x1b[2m": ("dim", None)}
SHOWN = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=20)


def _texts(shown: str) -> list[tuple[str | None, str | None, str | None]]:
    drawn = svg.drawn(shown, columns=80, theme=svg.DARK, title="t")
    texts = ET.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")  # noqa: S314 - we have just written it
    return [(text.text, text.get("fill"), text.get("class")) for text in texts]


@given(st.lists(st.tuples(st.sampled_from([*STYLES]), SHOWN), min_size=1, max_size=4))
def test_every_run_of_letters_is_drawn_once_in_its_style(parts: list[tuple[str, str]]) -> None:
    shown = "".join(f"{code}{text}\x1b[0m\n" for code, text in parts)
    wanted = [(text, getattr(svg.DARK, STYLES[code][0]), STYLES[code][1]) for code, text in parts]
    assert _texts(shown) == wanted
    assert svg.plain(shown) == "".join(f"{text}\n" for _, text in parts)


def test_columns_hold_whatever_the_font() -> None:
    drawn = svg.drawn("ab\x1b[31mcd\x1b[39mef", columns=80, theme=svg.LIGHT, title="t")
    runs = [(t.get("x"), t.get("textLength")) for t in ET.fromstring(drawn).iter() if t.tag.endswith("text")]  # noqa: S314
    assert runs == [("18.0", "16.8"), ("34.8", "16.8"), ("51.6", "16.8")]


def test_a_style_holds_over_the_end_of_a_line_until_it_is_changed() -> None:
    assert _texts("\x1b[1;31mone\ntwo\x1b[0mthree") == [
        ("one", svg.DARK.red, "bold"),
        ("two", svg.DARK.red, "bold"),
        ("three", svg.DARK.ink, None),
    ]
