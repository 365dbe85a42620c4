"""The search for dead code finds a function that no process executes and a field that nothing fills."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from tests.docs.scripts import script

if TYPE_CHECKING:
    from pathlib import Path

reach = script("reach")

SHOP = '''"""A shop."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Protocol


class Store(Protocol):
    def read(self) -> str: ...


@dataclass
class Order:
    number: int
    paid: bool = False
    gift: bool = False
    wrapped: bool = False
    lines: list[str] = field(default_factory=list)
    limit: Final = 3


def main() -> None:
    """Take an order."""
    print(_price(Order(1, paid=True)))


def _price(order: Order) -> int:
    @staticmethod
    def inner() -> int:
        return 1
    return order.number


def dead() -> None:
    """Never called."""
    if 1:
        main()


main()
gift = "gift"
'''


def test_only_what_a_process_executed_counts_as_reached(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.touch()
    (tmp_path / "shop.py").write_text(reach.marked("shop", SHOP))
    (tmp_path / "asbuilt_reach.py").write_text(reach.recorder(notes))
    run = subprocess.run(
        [sys.executable, "shop.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (run.stdout, run.stderr) == ("1\n", "")
    assert notes.read_text().split() == ["shop:main", "shop:_price"]
    assert reach.unreached([("shop", SHOP)], set(notes.read_text().split())) == {
        "shop:dead",
        "shop:_price.inner",
        "shop:Order.wrapped",
    }


def test_a_process_without_the_recorder_runs_as_before(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(reach.marked("shop", SHOP))
    isolated = [sys.executable, "-I", "shop.py"]
    run = subprocess.run(isolated, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (run.stdout, run.stderr) == ("1\n", "")


def test_slices_add_up_until_a_source_changes() -> None:
    notes = "shop:main\nshop:main\nstore:read\ngone:away\n"
    before = {"shop": "1", "store": "1", "gone": "1"}
    assert reach.still_true(notes, before, {"shop": "1", "store": "2", "new": "1"}) == "shop:main\n"


def test_every_field_is_filled_somewhere_or_has_a_reason_to_keep_its_default() -> None:
    assert set(reach.never_filled(reach.sources())) == set(reach.accepted()["fields"])
