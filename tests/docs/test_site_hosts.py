"""`just site` fails when a page would load something from another host."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_SCRIPT = Path(__file__).parents[2] / "scripts" / "site_hosts.py"


def _looked(folder: Path) -> tuple[int, list[str]]:
    done = subprocess.run(
        [sys.executable, str(_SCRIPT), str(folder)], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout.splitlines()[:-1]


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.html", '<script src="https://cdn.test/x.js"></script>', "<script src> https://cdn.test/x.js"),
        ("a.html", '<link rel="stylesheet" href="//cdn.test/x.css">', "<link href> //cdn.test/x.css"),
        ("a.html", '<img src="HTTP://cdn.test/x.png">', "<img src> HTTP://cdn.test/x.png"),
        (
            "a.html",
            '<img srcset="x.png, https://cdn.test/2.png 2x">',
            "<img srcset> https://cdn.test/2.png 2x",
        ),
        ("a.html", '<iframe src="https://cdn.test/"></iframe>', "<iframe src> https://cdn.test/"),
        ("a.html", "<style>@import 'https://cdn.test/x.css';</style>", "https://cdn.test/x.css"),
        ("a.html", '<p style="background: url(//cdn.test/x.png)">', "//cdn.test/x.png"),
        ("a.svg", '<svg><image href="https://cdn.test/x.png"/></svg>', "<image href> https://cdn.test/x.png"),
        ("a.css", "a { background: url('https://cdn.test/x.png') }", "https://cdn.test/x.png"),
    ],
)
def test_what_a_page_loads_from_another_host_is_named_and_fails(
    tmp_path: Path, name: str, text: str, told: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert _looked(tmp_path) == (1, [f"{name}: {told}"])


def test_links_that_a_reader_follows_may_lead_anywhere(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<link rel="canonical" href="https://docs.test/a.html"><a href="https://docs.test/">there</a>'
        '<script src="./x.js"></script><svg xmlns="http://www.w3.org/2000/svg"></svg>',
        encoding="utf-8",
    )
    (tmp_path / "b.css").write_text("a { background: url(x.png) }", encoding="utf-8")
    assert _looked(tmp_path) == (0, [])
