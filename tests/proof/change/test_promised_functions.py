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
    every = told({"shop.py": after, **TEST}, f"- [ ] {item}\n", BEFORE)
    found = [one for one in every if one[1] == "promise-unkept"]
    why = f"the phase names {named}, and it is as it was"
    assert found == ([("sign_off", "promise-unkept", why)] if named else [])


def test_a_function_that_is_about_another_one_and_that_only_a_test_uses_is_put_to_a_person() -> None:
    body = "\n\ndef tidied(text):\n    return text.strip()\n"
    found = told(
        {"shop.py": BEFORE + body}, "- [ ] Old weights are converted when the shipping is known\n", BEFORE
    )
    now = "nothing but a test uses it, and shipping, which the phase speaks of, is as it was"
    assert found == [("sign_off", "not-wired", now)]
    assert told({"shop.py": BEFORE + body}, "- [ ] Old weights are known to shipping\n", BEFORE) == []


def test_a_check_that_the_function_an_item_is_about_never_calls_is_put_to_a_person() -> None:
    body = "\n\ndef refused(grams):\n    return grams < 0\n"
    test = {"tests/test_it.py": "assert refused(-5)\nassert shipping(5)\n"}
    item = "- [ ] `shipping(grams)` refuses weights below zero\n"
    now = "nothing but a test uses it, and shipping, which the phase speaks of, is as it was"
    assert told({"shop.py": BEFORE + body, **test}, item, BEFORE) == [("sign_off", "not-wired", now)]


def test_a_new_parameter_that_is_never_read_is_put_to_a_person() -> None:
    item = "- [ ] `shipping` tries again\n"
    after = BEFORE.replace("shipping(grams)", "shipping(grams, tries=3)")
    found = told({"shop.py": after}, item, BEFORE)
    assert ("sign_off", "input-ignored", "never reads tries, which is new") in found
    reads = after.replace("return 490", "return 490 * tries")
    assert told({"shop.py": reads}, item, BEFORE) == []
