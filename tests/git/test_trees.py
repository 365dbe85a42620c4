"""What differs between two trees, read whole and bounded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.git.trees import differing, file_in
from asbuilt.proof.suites.model import Change

if TYPE_CHECKING:
    from tests.git.shop import Shop

ODD = 'a\n"b'


def test_every_file_that_differs_is_read_as_it_was_and_as_it_is(shop: Shop) -> None:
    before = shop.commit(
        "before", {"same.py": "1", "changed.py": "1\n", "gone.py": "", ODD: "x", "bin": "\0\n\0"}
    )
    for name in ("gone.py", ODD):
        (shop.root / name).unlink()
    (shop.root / "same.py").chmod(0o755)
    after = shop.commit("after", {"changed.py": "2\n", "new/one.py": "3", "bin": "\0"})
    assert sorted(differing(shop.repository, before, after, cap=100)) == sorted(
        [
            Change("bin", b"\0\n\0", b"\0"),
            Change("changed.py", b"1\n", b"2\n"),
            Change("gone.py", b"", None),
            Change(ODD, b"x", None),
            Change("new/one.py", None, b"3"),
            Change("same.py", b"1", b"1"),
        ],
        key=lambda one: one.path,
    )
    only = differing(shop.repository, before, after, cap=100, among={"bin"})
    assert [one.path for one in only] == ["bin"]


def test_a_link_is_read_as_the_file_that_it_leads_to_and_never_from_outside(shop: Shop) -> None:
    before = shop.commit("before", {"real.py": "REAL"})
    for name, to in (("in.py", "real.py"), ("out.py", "/etc/passwd"), ("lost.py", "nowhere")):
        (shop.root / name).symlink_to(to)
    after = shop.commit("after")
    assert differing(shop.repository, before, after, cap=100) == [
        Change("in.py", None, b"REAL", target="real.py"),
        Change("lost.py", None, b"nowhere", target="nowhere"),
        Change("out.py", None, b"/etc/passwd", target="/etc/passwd"),
    ]


def test_of_a_file_over_the_cap_it_is_known_that_it_is_another(shop: Shop) -> None:
    before = shop.commit("before", {"large.txt": "a" * 200})
    after = shop.commit("after", {"large.txt": "a" * 199 + "b"})
    ((path, old, new, *_),) = differing(shop.repository, before, after, cap=100)
    assert (path, old != new, len(old or b""), len(new or b"")) == ("large.txt", True, 101, 101)


def test_a_submodule_has_no_content(shop: Shop) -> None:
    before = shop.tip()
    shop.git("update-index", "--add", "--cacheinfo", f"160000,{before},inner")
    shop.git("commit", "-qm", "a submodule")
    assert differing(shop.repository, before, shop.tip(), cap=100) == [
        Change("inner", None, None, submodule=before)
    ]


def test_one_file_of_a_tree_is_read_or_is_not_there(shop: Shop) -> None:
    commit = shop.commit("one", {"src/a.py": "1"})
    found = [file_in(shop.repository, commit, path) for path in ("src/a.py", "src", "b.py", "a\0b")]
    assert found == [b"1", None, None, None]
