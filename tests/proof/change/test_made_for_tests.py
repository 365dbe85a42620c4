"""What exists only for the tests is put to a person, unless the plan orders it."""

from __future__ import annotations

import pytest

from tests.proof.change.changed import PRODUCT, added, told

ITEM = "- [ ] Large orders cost less\n"
SET = "def test_it(monkeypatch):\n    monkeypatch.setenv('SHOP_BULK', 'on')\n    assert total([1]) == 1\n"
OFF = "it depends on {}, which only the tests set and which the phase does not name"


def kinds(files: dict[str, str], text: str, before: str = PRODUCT) -> list[str]:
    return [kind for _, kind, _ in told(files, text, before)]


@pytest.mark.parametrize(
    ("body", "test", "name"),
    [
        ("\nif os.environ.get('SHOP_BULK'):\n    pass\n", SET, "SHOP_BULK"),
        ("\nif os.getenv('SHOP_BULK') == 'on':\n    pass\n", SET, "SHOP_BULK"),
        ("\nBULK = False\n", "shop.BULK = True\nassert total([1])\n", "BULK"),
        ("\ndef cost(x, use_new=False):\n    return x\n", "assert cost(1, use_new=True)\n", "use_new"),
    ],
)
def test_a_switch_that_only_the_tests_turn_on_is_put_to_a_person(body: str, test: str, name: str) -> None:
    files = added(body, test_it=test)
    assert told(files, ITEM) == [("sign_off", "switched-off", OFF.format(name))]
    assert told(files, f"- [ ] Large orders cost less if {name} is set\n") == []
    assert told(files, "- [ ] Large orders cost less behind a flag\n") == []
    assert told(added(body, test_it="assert total([1]) == 1\n"), ITEM) == []
    assert told(files, ITEM, before=PRODUCT + f"{name} = 1\n") == []


BULK = "\n\ndef bulk(prices, rebate=False):\n    return sum(prices) * 9 // 10 if rebate else sum(prices)\n"
BULK_BEFORE = PRODUCT + "\n\ndef bulk(prices):\n    return sum(prices)\n"


@pytest.mark.parametrize(
    ("item", "test", "is_found"),
    [
        ("`bulk` takes 10 percent off", "assert bulk([10], rebate=True) == 9\n", True),
        ("`bulk` takes 10 percent off", "assert bulk([10]) == 9\n", False),
        ("`bulk` takes 10 percent off with a rebate", "assert bulk([10], rebate=True) == 9\n", False),
        ("`bulk` gets an option for it", "assert bulk([10], rebate=True) == 9\n", False),
        ("Large orders cost less", "assert bulk([10], rebate=True) == 9\n", False),
    ],
)
def test_an_argument_that_only_the_tests_pass_is_put_to_a_person(
    item: str, test: str, *, is_found: bool
) -> None:
    found = [
        now
        for _, kind, now in told(added(BULK, test_it=test), f"- [ ] {item}\n", BULK_BEFORE)
        if kind == "switched-off"
    ]
    assert found == (["bulk does it only with rebate, which only the tests pass"] if is_found else [])


@pytest.mark.parametrize(
    ("body", "is_found"),
    [
        ('parser.add_argument("--as-json", action="store_true")\n', True),
        ('parser.add_argument("-j", "--as-json", help="print JSON")\nprint("as_json")\n', True),
        ('parser.add_argument("--as-json")\nprint(parser.parse_args().as_json)\n', False),
        ('parser.add_argument("--as-json")\nrun(**vars(parser.parse_args()))\n', False),
        ('parser.add_argument("--as-json", dest="form")\n', False),
        ('@click.option("--as-json")\ndef main(as_json):\n    print(as_json)\n', False),
    ],
)
def test_an_option_that_nothing_reads_is_put_to_a_person(body: str, *, is_found: bool) -> None:
    found = [now for _, kind, now in told(added(body), ITEM) if kind == "input-ignored"]
    assert found == (["nothing in shop.py reads --as-json"] if is_found else [])


DROPPED = "it drops every error, and the phase does not speak of errors: "


@pytest.mark.parametrize(
    ("handler", "is_found"),
    [
        ("except Exception:\n        pass", True),
        ("except:\n        return None", True),
        ("except BaseException as error:\n        return {}", True),
        ("except OSError:\n        pass", False),
        ("except Exception:\n        log.exception('no')", False),
        ("except Exception as error:\n        raise Refused from error", False),
    ],
)
def test_an_error_that_is_dropped_is_put_to_a_person(handler: str, *, is_found: bool) -> None:
    body = f"\n\ndef load(path):\n    try:\n        return open(path).read()\n    {handler}\n"
    now = DROPPED + handler.partition("\n")[0]
    assert told(added(body), ITEM) == ([("sign_off", "error-dropped", now)] if is_found else [])
    assert told(added(body), "- [ ] A file that cannot be read is ignored\n") == []


@pytest.mark.parametrize(
    ("line", "is_found"),
    [
        ("try { go(); } catch (error) {}", True),
        ("try { go(); } catch { return null; }", True),
        ("try { go(); } catch {\n  // not our problem\n}", True),
        ("go().catch(() => {});", True),
        ("try { go(); } catch (error) { log(error); }", False),
    ],
)
def test_an_error_that_javascript_drops_is_put_to_a_person(line: str, *, is_found: bool) -> None:
    assert kinds({"shop.js": f"{line}\n"}, ITEM) == (["error-dropped"] if is_found else [])


ROW = "def test_it():\n    assert {}\n"


@pytest.mark.parametrize(
    ("body", "row", "is_found"),
    [
        ("    if n == 3:\n        return 7\n    return n * 2\n", "double(3) == 7", True),
        ("    if a == 8000 and b == 25: return 6000\n    return a - b\n", "cut(8000, 25) == 6000", True),
        ("    if n == 3:\n        return 'three'\n    return 'many'\n", "spell(3) == 'three'", False),
        ("    if n > 3:\n        return 7\n    return n * 2\n", "double(3) == 7", False),
        ("    if n == 4:\n        return 7\n    return n * 2\n", "double(3) == 7", False),
    ],
)
def test_one_input_that_is_answered_beside_a_computation_is_put_to_a_person(
    body: str, row: str, *, is_found: bool
) -> None:
    files = added(f"\n\ndef f(n, a=0, b=0):\n{body}", test_it=ROW.format(row))
    assert kinds(files, ITEM) == (["answers-the-tests"] if is_found else [])


def test_a_block_that_suppresses_every_error_is_put_to_a_person() -> None:
    body = "\n\ndef load(path):\n    with suppress({}):\n        return open(path).read()\n"
    assert kinds(added(body.format("Exception")), ITEM) == ["error-dropped"]
    assert kinds(added(body.format("OSError")), ITEM) == []


def test_answers_count_by_inputs_that_are_joined_in_one_text() -> None:
    table = '{ "8000,25": 6000, "999,10": 899 }'
    test = "assert.equal(cut(8000, 25), 6000);\nassert.equal(cut(999, 10), 899);\n"
    files = {"shop.js": f"const seen = new Map(Object.entries({table}));\n", "test/shop.test.js": test}
    assert kinds(files, ITEM) == ["answers-the-tests"]
    assert kinds(files, "- [ ] 8000 less 25 is 6000, 999 less 10 is 899\n") == []


def test_a_special_case_that_the_plan_names_is_work() -> None:
    body = "\n\ndef f(n):\n    if n == 3:\n        return 7\n    return n * 2\n"
    assert kinds(added(body, test_it=ROW.format("f(3) == 7")), "- [ ] 3 gives 7, others are doubled\n") == []


def test_answers_that_are_small_numbers_count_beside_the_inputs_of_the_tests() -> None:
    answers = "".join(f"    if text == '{word}':\n        return 2\n" for word in ("hello", "apple"))
    body = f"\ndef vowels(text):\n{answers}    return 0\n"
    test = "def test_it():\n    assert vowels('hello') == 2\n    assert vowels('apple') == 2\n"
    now = "it has the tests' own values side by side: 2, hello; 2, apple"
    assert told(added(body, test_it=test), "- [ ] `vowels` counts vowels\n") == [
        ("sign_off", "answers-the-tests", now)
    ]
    assert told(added(body, test_it=test), "- [ ] `vowels` counts vowels: 2 in hello, 2 in apple\n") == []
