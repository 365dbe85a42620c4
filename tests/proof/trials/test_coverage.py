"""Which added lines no process of a test run executed, from what Python's recorder and V8 wrote."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.proof.trials.recorders import RECORDER, recorder, unrun

if TYPE_CHECKING:
    from pathlib import Path

PYTHON = b"""\
'''A module.'''
import threading


def price(cents):
    global LAST
    first: int
    if cents > 9:
        # dear
        cents -= 1

        return cents
    pass
    return 1


def sale():
    return 0


threading.Thread(target=price, args=(1,)).start()
"""
SCRIPT = "// 𝒳\nexports.a = (n) => {\n  if (n) {\n    /* why */\n    return 1;\n  }\n  return 2;\n};\n"


def v8(url: str, *ranges: tuple[int, int, int]) -> bytes:
    told = [dict(zip(("startOffset", "endOffset", "count"), one, strict=True)) for one in ranges]
    return json.dumps({"result": [{"url": url, "functions": [{"ranges": told}]}]}).encode()


def at(text: str) -> int:
    """Return where a text begins in the script, as V8 counts: its third letter has two units."""
    return SCRIPT.index(text) + 1


def test_a_python_process_records_the_lines_that_it_runs_in_threads_too(tmp_path: Path) -> None:
    place = tmp_path / RECORDER
    place.parent.mkdir()
    place.write_bytes(recorder(str(tmp_path), ["shop.py"], str(tmp_path / "lines")))
    (tmp_path / "shop.py").write_bytes(PYTHON)
    (tmp_path / "other.py").write_text("import shop\n", encoding="utf-8")
    # It ends without a last word, and with every file closed that it does not know.
    program = "import os, other, time; time.sleep(.2); os.closerange(3, 99); other.shop.price(1); os._exit(0)"
    environment = {"PYTHONPATH": f"{place.parent}:{tmp_path}"}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)
    recorded = (tmp_path / "lines").read_bytes()
    assert unrun({"shop.py": (b"", PYTHON)}, recorded, [], "/x") == ("shop.py:10-12", "shop.py:18")
    known = PYTHON.replace(b"return 0", b"return 9")
    assert unrun({"shop.py": (known, PYTHON)}, recorded, [], "/x") == ("shop.py:18",)


def test_a_script_is_judged_by_the_innermost_range_of_every_process() -> None:
    whole, end = (0, len(SCRIPT) + 1, 1), len(SCRIPT) + 1
    first = v8("file:///x/a%20b.js", whole, (at("{\n    /*"), at("\n  return 2"), 0))
    second = v8("file:///x/a%20b.js", whole, (at("\n  return 2"), at("\n};"), 0))
    sources = {"a b.js": (b"", SCRIPT.encode())}
    assert unrun(sources, b"", [first], "/x") == ("a b.js:5",)
    assert unrun(sources, b"", [second], "/x") == ("a b.js:7",)
    assert unrun(sources, b"", [first, second], "/x") == ()
    assert unrun(sources, b"", [v8("file:///x/a%20b.js", (0, end, 0))], "/x") == ("a b.js:2-7",)


@pytest.mark.parametrize(
    "report",
    [
        v8("file:///x/a.js", (0, 5, 0)),
        v8("file:///y/a.js", (0, len(SCRIPT) + 1, 0)),
        v8("node:fs", (0, len(SCRIPT) + 1, 0)),
        b"{",
        b"[]",
        b'{"result": [{}]}',
        b'{"result": [{"url": "file:///x/a.js", "functions": [{"ranges": [{}]}]}]}',
    ],
)
def test_a_script_that_was_built_first_or_is_of_elsewhere_is_not_judged(report: bytes) -> None:
    assert unrun({"a.js": (b"", SCRIPT.encode())}, b"", [report], "/x") == ()


@given(st.binary(max_size=60), st.binary(max_size=60))
def test_whatever_a_process_writes_is_read(recorded: bytes, report: bytes) -> None:
    unrun({"shop.py": (b"", PYTHON), "a.js": (b"", SCRIPT.encode())}, recorded, [report], "/x")
