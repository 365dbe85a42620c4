"""Changed files of a small shop, and what is found hollow in them."""

from __future__ import annotations

from asbuilt.proof.change.hollow import hollow
from asbuilt.proof.suites.model import Change, Order

PHASE = (
    "- [ ] `discounted(cents, percent)` takes percent off\n"
    "### Verification\n- `python -c 'assert discounted(8000, 25) == 6000'`\n"
)
PRODUCT = "def total(prices):\n    return sum(prices)\n"


def told(files: dict[str, str], text: str = PHASE, before: str = PRODUCT) -> list[tuple[str, str, str]]:
    """Say what is found when these files are written over the product."""
    changes = [
        Change(path, before.encode() if path == "shop.py" else None, after.encode())
        for path, after in files.items()
    ]
    return [
        (str(one.severity), str(one.kind), one.now)
        for one in hollow(changes, Order(text), [*files, "shop.py"])
    ]


def added(body: str, **tests: str) -> dict[str, str]:
    return {"shop.py": PRODUCT + body, **{f"tests/{name}.py": text for name, text in tests.items()}}
