"""What a work item names is in the tree: files, names, errors, routes, migrations."""

from __future__ import annotations

import pytest

from asbuilt.proof.change.hollow import hollow
from asbuilt.proof.suites.model import Change, Order
from tests.proof.change.changed import added, told

MISSING = "the phase names it, and the tree has no such file"
UNTOUCHED = "the phase names it, and no file of the product was changed"


@pytest.mark.parametrize(
    ("test", "is_found"),
    [("with pytest.raises(ValueError):", False), ("assert read('1') == [1]", True)],
)
def test_an_error_that_an_item_names_is_expected_by_a_test(test: str, *, is_found: bool) -> None:
    item = "- [ ] `rows.py` has `read(text)`: a line that is none is refused with ValueError\n"
    product = "def read(text):\n    return [int(line) for line in text.splitlines()]\n"
    found = told({"rows.py": product, "tests/test_rows.py": f"{test}\n"}, item)
    words = ("sign_off", "promise-unkept", "the phase names ValueError, and no test that it adds expects one")
    assert found == ([words] if is_found else [])


def test_an_error_of_before_the_work_is_no_promise() -> None:
    item = "- [ ] `rows.py` has `read(text)`: '' raises ValueError; today 1.5 ends in an IndexError\n"
    files = {
        "rows.py": "def read(text):\n    if not text:\n        raise ValueError\n",
        "tests/test_rows.py": "raises(ValueError)\n",
    }
    assert told(files, item) == []


@pytest.mark.parametrize("folder", ["src/", "lib/"])
def test_a_file_that_an_item_places_elsewhere_has_gone_there(folder: str) -> None:
    changes = [Change("test/a.test.ts", b"1\n", None), Change(f"{folder}a.test.ts", None, b"1\n")]
    order = Order("- [ ] `test/a.test.ts` lies in `src/` next to what it tests\n")
    found = [one.now for one in hollow(changes, order, [f"{folder}a.test.ts"])]
    assert found == ([] if folder == "src/" else [MISSING])


@pytest.mark.parametrize(
    ("item", "found"),
    [
        ("`tests/test_shop.py` tests both", [("sign_off", "promise-unkept", MISSING)]),
        ("`shop.py` refuses what is below zero", [("sign_off", "promise-unkept", UNTOUCHED)]),
        ("`shop.py greet` says hello", [("sign_off", "promise-unkept", UNTOUCHED)]),
        ("`old.py` is removed", []),
        ("`shop.py` is tested", []),
        ("Totals are right, as in `shop.py`", []),
        ("`notes.md` says why", [("sign_off", "promise-unkept", MISSING)]),
        ("Document the rates in `docs/rates.md`", [("sign_off", "promise-unkept", MISSING)]),
        ("Add `data/rates.csv` and `data/zones.csv`", [("sign_off", "promise-unkept", MISSING)] * 2),
        ("New page `web/rates.html`: all rates", [("sign_off", "promise-unkept", MISSING)]),
        ("`config/app.yml` sets the rates", [("sign_off", "promise-unkept", MISSING)]),
        ("Add `config/app.yml` support", []),
        ("Write `report.csv` with one row a rate", []),
        ("`report.csv` has one row a rate", []),
        ("`out/report.json` lists the rates", []),
        ("Rates are read from `data/rates.csv`", []),
        ("Add `example.com/rates.json` to the sources", []),
        ("`total` is tested", []),
        ("`a.py` or `b.py` has the rates", []),
        ("`tests/test_it.py` calls `shop.py total`", []),
    ],
)
def test_what_a_work_item_names_is_there_and_something_was_done(
    item: str, found: list[tuple[str, str, str]]
) -> None:
    assert (
        told({"tests/test_it.py": "def test_it():\n    assert total([1]) == 1\n"}, f"- [ ] {item}\n") == found
    )


@pytest.mark.parametrize(
    ("item", "lacking"),
    [
        ("`shop.py` has `grams`, `pounds` and `stones`", "pounds, stones"),
        ("`shop.py` gets `stones(mg)`: rounded", "stones"),
        ("`shop.py` has `grams(mg)` and takes `None` for nothing", ""),
        ("`shop.py` tells `stones` from `grams`", ""),
        ("`other.py` has `grams`", ""),
        ("`shop.py` has `Shop.stones(mg)`", "stones"),
    ],
)
def test_a_name_that_a_file_is_said_to_have_is_in_it(item: str, lacking: str) -> None:
    made = told(added("\n\ndef grams(mg):\n    return mg / 1000\n", test_it=""), f"- [ ] {item}\n")
    missing = [one for one in made if one[2] != MISSING]
    assert missing == (
        [("sign_off", "promise-unkept", f"the phase names {lacking}, which it does not have")]
        if lacking
        else []
    )


EMPTY = "the phase names it, and the file is empty"


@pytest.mark.parametrize(
    ("path", "item", "found"),
    [
        ("docs/rates.md", "`docs/rates.md` lists the rates", [("sign_off", "promise-unkept", EMPTY)]),
        ("rates.py", "`rates.py` has the rates", [("sign_off", "promise-unkept", EMPTY)]),
        ("rates/__init__.py", "Add `rates/__init__.py`", []),
        ("docs/rates.md", "Add an empty `docs/rates.md`", []),
        ("docs/rates.md", "Add `docs/rates.md` or another page", []),
    ],
)
def test_a_file_that_a_work_item_names_is_not_empty(
    path: str, item: str, found: list[tuple[str, str, str]]
) -> None:
    assert told({"shop.py": "LIMIT = 5\n", path: " \n"}, f"- [ ] {item}\n") == found


ROUTES = {"shop/routes.py": "@app.get('/orders/<id>')\ndef order(id):\n    return find(id)\n"}
TABLE = {"db/migrations/2.sql": "ALTER TABLE orders ADD COLUMN paid int;\n"}
DJANGO = "class Migration(migrations.Migration):\n    operations = [{}]\n"
NO_MIGRATION = "the phase wants a migration, and none that does anything was added"


def lacks(name: str) -> str:
    return f"the phase names {name}, and no changed file has it"


@pytest.mark.parametrize(
    ("files", "item", "why"),
    [
        (ROUTES, "Add `GET /orders/{id}`: the order", ""),
        (ROUTES, "Add the endpoint `/api/v1/orders`", ""),
        (ROUTES, "Add `POST /refunds`: money back", lacks("/refunds")),
        (ROUTES, "Expose `GET /orders/{id}` and `GET /orders/{id}/refunds`", lacks("/orders/{id}/refunds")),
        (ROUTES, "Add a limit to `POST /refunds`", ""),
        (ROUTES, "`POST /refunds` answers 404", ""),
        (ROUTES, "Add `order(id)` and a function `refund(id)`", ""),
        (ROUTES, "Implement `order(id)`, `refund(id)`", lacks("refund")),
        (ROUTES, "Add tests for `refund(id)`", ""),
        (ROUTES, "Add `refund(id)` or `repay(id)`", ""),
        (TABLE, "Add a migration for `paid`", ""),
        (ROUTES, "Add a migration for `paid`", NO_MIGRATION),
        (ROUTES, "A migration adds `paid` to databases that exist", NO_MIGRATION),
        ({"db/store.py": "CREATE = 'CREATE TABLE orders (id int)'\n"}, "A migration adds `paid`", ""),
        (ROUTES, "Add `Orders.refund(id)`", lacks("refund")),
        (ROUTES, "Write the migration guide", ""),
        ({"a/migrations/2.py": DJANGO.format("")}, "Create a migration for `paid`", NO_MIGRATION),
        ({"a/migrations/2.py": DJANGO.format("AddField()")}, "Create a migration for `paid`", ""),
        (
            {"versions/2.py": "import alembic\n\n\ndef upgrade() -> None:\n    pass\n"},
            "Add a migration",
            NO_MIGRATION,
        ),
    ],
)
def test_what_a_work_item_wants_added_is_in_a_changed_file(
    files: dict[str, str], item: str, why: str
) -> None:
    found = told(files, f"- [ ] {item}\n")
    assert found == ([("sign_off", "promise-unkept", why)] if why else [])


def test_a_file_that_is_named_without_its_folder_is_there() -> None:
    for named in ("test_it.py", "tests/test_it.py"):
        assert told(added("\n\nx = 1\n", test_it="x\n"), f"- [ ] `{named}` tests it\n") == []


AS_IT_WAS = "the phase changes it by an item, and it is as it was"


@pytest.mark.parametrize(
    ("item", "is_found"),
    [
        ("`shop.py` gives the server a limiter", True),
        ("Change `shop.py`: it passes a limiter", True),
        ("In `shop.py` the server gets a limiter", True),
        ("`shop.py` and `limits.py` have it", False),
        ("`shop.py` stays as it is", False),
        ("`shop.py` does not change", False),
        ("The limit is like the one in `shop.py`", False),
        ("A limiter, which `shop.py` may use", False),
        ("Document `shop.py`", False),
    ],
)
def test_a_file_whose_change_an_item_is_about_was_changed(item: str, *, is_found: bool) -> None:
    """Another file of the product changed, so that alone shows nothing."""
    found = told({"limits.py": "LIMIT = 5\n"}, f"- [ ] {item}\n")
    assert found == ([("sign_off", "promise-unkept", AS_IT_WAS)] if is_found else [])


@pytest.mark.parametrize(
    ("item", "touched", "is_found"),
    [
        ("Document the limit in the README", "limits.py", True),
        ("The documentation explains the limit", "limits.py", True),
        ("Update the changelog", "README.md", False),
        ("Document the limit in the README", "README.md", False),
        ("Document the limit in the README", "docs/limits.md", True),
        ("The documentation explains the limit", "docs/limits.md", False),
        ("The docs stay as they are", "limits.py", False),
        ("`limits.py` reads the docs of a shop", "limits.py", False),
    ],
)
def test_documentation_that_an_item_orders_was_changed(item: str, touched: str, *, is_found: bool) -> None:
    found = told({"limits.py": "LIMIT = 5\n", touched: "LIMIT = 5\n"}, f"- [ ] {item}\n")
    why = "the phase orders documentation, and no document was changed"
    assert found == ([("sign_off", "promise-unkept", why)] if is_found else [])


@pytest.mark.parametrize(
    ("item", "line", "why"),
    [
        ("Parcels over 5000 grams cost 1490", "x = 1", "no line of the phase has 5000 or 1490"),
        ("Parcels over 5000 grams cost 1490", "x = 5_000", ""),
        ("Parcels over 5000 grams cost more", "x = 1", ""),
        ("Parcels over 5000 grams still cost 1490", "x = 1", ""),
        ("Python 3.11 and issue #5000 of RFC-3339", "x = 1", ""),
    ],
)
def test_a_number_that_an_item_states_is_in_a_line_of_the_phase(item: str, line: str, why: str) -> None:
    found = told({"limits.py": f"{line}\n"}, f"- [ ] {item}\n")
    assert found == ([("sign_off", "promise-unkept", why)] if why else [])
