"""What a command left is a picture by its bytes, and a page shows no more of them than it can bear."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from asbuilt.proof.pictures import MAX_PICTURE, Picture, Sorted, media_of, sorted_out

PNG = b"\x89PNG\r\n\x1a\nrest"
MEDIA = {None, "image/png", "image/jpeg", "image/gif", "image/webp"}


def test_pictures_are_told_from_everything_else_by_their_bytes() -> None:
    files = [
        ("a.txt", PNG),
        ("b.png", b"<svg onload='alert(1)'/>"),
        ("c.jpg", b"\xff\xd8\xff\xe0"),
        ("d.webp", b"RIFF\x00\x00\x00\x00WEBPVP8 "),
        ("e.wav", b"RIFF\x00\x00\x00\x00WAVEfmt "),
        ("f.gif", b"GIF89a"),
    ]
    assert sorted_out(files) == Sorted(
        (
            Picture("a.txt", "image/png", PNG),
            Picture("c.jpg", "image/jpeg", b"\xff\xd8\xff\xe0"),
            Picture("d.webp", "image/webp", b"RIFF\x00\x00\x00\x00WEBPVP8 "),
            Picture("f.gif", "image/gif", b"GIF89a"),
        ),
        ("b.png", "e.wav"),
    )


def test_one_that_is_too_large_and_one_too_many_are_named_instead() -> None:
    many = [(f"{number:02}.png", PNG) for number in range(25)]
    found = sorted_out([("huge.png", PNG.ljust(MAX_PICTURE + 1)), *many])
    assert ([one.name for one in found.pictures], found.left_out) == (
        [name for name, _ in many[:24]],
        ("huge.png", "24.png"),
    )


@given(st.binary())
def test_no_bytes_are_more_than_one_of_four_kinds(content: bytes) -> None:
    assert media_of(content) in MEDIA
