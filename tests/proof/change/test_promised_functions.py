"""A function that an item wants or is about is one that the phase's lines are about."""

from __future__ import annotations

import pytest

from tests.proof.change.changed import PRODUCT, told

BEFORE = (
    PRODUCT
    + """

class Exporter:
    def export(self, rows):
        return ""


def shipping(grams):
    return 490
"""
)
CLASS = """

class CsvExporter(Exporter):
    ending = "csv"
"""
CHANGED = BEFORE.replace("return 490", "return 490 if grams > 100 else 0")
TEST = {"tests/test_it.py": "assert CsvExporter().export\n"}


@pytest.mark.parametrize(
    ("after", "item", "named"),
    [
        (BEFORE + CLASS, "`shop.py` has `CsvExporter` with `export(rows)`", "export"),
        (
            BEFORE + CLASS + "    def export(self, rows):\n        return 1\n",
            "`CsvExporter` has `export(rows)`",
            "",
        ),
        (BEFORE + CLASS, "`shipping` is free for parcels of up to 100 grams", "shipping"),
        (BEFORE + CLASS, "`shipping(grams)` is free for parcels of up to 100 grams", "shipping"),
        (CHANGED, "`shipping` is free for parcels of up to 100 grams", ""),
        (BEFORE + CLASS, "`shipping` stays as it is", ""),
        (BEFORE + CLASS, "`shipping` is tested", ""),
        (BEFORE + CLASS, "`CsvExporter` is like what `shipping` returns", ""),
    ],
)
def test_a_function_that_an_item_is_about_is_touched(after: str, item: str, named: str) -> None:
    found = told({"shop.py": after, **TEST}, f"- [ ] {item}\n", BEFORE)
    why = f"the phase names {named}, and it is as it was"
    assert found == ([("sign_off", "promise-unkept", why)] if named else [])


def test_a_function_that_is_about_another_one_and_that_only_a_test_uses_is_put_to_a_person() -> None:
    body = "\n\ndef converted(text):\n    return text.strip()\n"
    found = told(
        {"shop.py": BEFORE + body}, "- [ ] Old weights are converted when the shipping is known\n", BEFORE
    )
    now = "nothing but a test uses it, and shipping, which the phase speaks of, is as it was"
    assert found == [("sign_off", "not-wired", now)]
    assert told({"shop.py": BEFORE + body}, "- [ ] Old weights are known to shipping\n", BEFORE) == []
