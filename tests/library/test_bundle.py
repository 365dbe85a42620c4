"""A bundle arrives byte for byte or not at all."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from asbuilt.errors import PlanUnreadable
from asbuilt.library.bundle import Beside, Packed, pack, unpack
from asbuilt.library.read_plan import Opened
from asbuilt.library.search_path import PlanFile
from asbuilt.plan.reader import read

if TYPE_CHECKING:
    from collections.abc import Callable
from pathlib import Path


def _opened(data: bytes, progress: bytes | None = None) -> Opened:
    at = PlanFile(file=Path("plans/login.md"), shown="plans/login.md", slug="login", repository="")
    beside = None if progress is None else (at, read(progress))
    return Opened(at, read(data), beside)


@given(st.binary(max_size=300))
def test_any_bytes_come_out_as_they_went_in(data: bytes) -> None:
    sent = json.dumps(pack(_opened(data))).encode()
    assert unpack(sent) == Packed("login", data)


def test_the_progress_document_travels_along() -> None:
    plan, progress = b"# X\nProgress is kept in PROGRESS.md.\n\n## Phase 1: a\n", b"# P\r\n\xff"
    sent = json.dumps(pack(_opened(plan, progress))).encode()
    assert unpack(sent) == Packed("login", plan, Beside("PROGRESS.md", progress))


def test_a_bundle_says_what_it_is_first() -> None:
    assert pack(_opened(b"# X\n")) == snapshot(
        {
            "schema": "asbuilt.bundle/1",
            "slug": "login",
            "intent": "sha256:8b21d93550f531d92cf21d32b77dc68798c244724ab954cb19be2f2051603ed9",
            "digest": "sha256:4605d4841be9e35e7f1dcea81f69d9d53ac11ad424e3015f90b7f54985ce27d9",
            "content": "IyBYCg==",
        }
    )


@pytest.mark.parametrize(
    "data", [b"# A plan\n", b"", b"{}", b'{"schema": 1}', b"{ not json", b"[1]", b"\xff"]
)
def test_what_is_no_bundle_is_left_to_the_reader(data: bytes) -> None:
    assert unpack(data) is None


def _with(**changes: object) -> bytes:
    return json.dumps(pack(_opened(b"# X\n", b"# P\n")) | changes).encode()


@pytest.mark.parametrize(
    ("tamper", "told"),
    [
        (
            lambda: _with(content="IyBZCg=="),
            snapshot("its plan does not have the digest that it was sent with"),
        ),
        (
            lambda: _with(content="not base64!"),
            snapshot("its plan is not whole"),
        ),
        (
            lambda: _with(content=None),
            snapshot("its plan does not have the digest that it was sent with"),
        ),
        (
            lambda: _with(digest="sha256:0"),
            snapshot("its plan does not have the digest that it was sent with"),
        ),
        (
            lambda: _with(schema="asbuilt.bundle/2"),
            snapshot("its format is asbuilt.bundle/2; this version reads asbuilt.bundle/1"),
        ),
        (
            lambda: _with(companion={"file": "p.md", "content": "IyBZCg==", "digest": "x"}),
            snapshot("its progress document does not have the digest that it was sent with"),
        ),
        (lambda: _with()[:-10], snapshot("it is incomplete or not valid JSON")),
        (lambda: _with() + b"}", snapshot("it is incomplete or not valid JSON")),
        (
            lambda: _with() + b" " * 6_000_000,
            snapshot("it is longer than 6,000,000 bytes"),
        ),
    ],
)
def test_a_bundle_that_was_changed_on_the_way_is_refused(tamper: Callable[[], bytes], told: str) -> None:
    with pytest.raises(PlanUnreadable) as caught:
        unpack(tamper())
    assert caught.value.what.removeprefix("the bundle cannot be imported: ") == told


@given(st.data())
def test_no_flipped_byte_gives_another_plan(data: st.DataObject) -> None:
    sent = bytearray(_with())
    place = data.draw(st.integers(0, len(sent) - 1))
    sent[place] = data.draw(st.integers(0, 255))
    try:
        arrived = unpack(bytes(sent))
    except PlanUnreadable:
        return
    assert arrived is None or (arrived.data, _progress(arrived)) == (b"# X\n", b"# P\n")


def _progress(packed: Packed) -> Any:  # noqa: ANN401 - None, when the key itself was what flipped
    return b"# P\n" if packed.progress_document is None else packed.progress_document.data
