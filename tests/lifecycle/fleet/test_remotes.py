from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.lifecycle.fleet import canonical, without_login

_WORD = st.text(string.ascii_lowercase + string.digits + "-_", min_size=2, max_size=12)
_PATHS = st.lists(_WORD, min_size=1, max_size=3).map("/".join)
_HOSTS = st.lists(_WORD.map(lambda word: f"a{word.strip('_-')}"), min_size=2, max_size=3).map(".".join)


@given(host=_HOSTS, path=_PATHS, user=_WORD)
def test_every_form_of_a_remote_has_one_name(host: str, path: str, user: str) -> None:
    forms = (
        f"{user}@{host}:{path}.git",
        f"{host}:{path}",
        f"ssh://{user}@{host}/{path}.git",
        f"ssh://{user}@{host}:22/{path}/",
        f"https://{host}/{path}.git",
        f"https://{user}:secret@{host.upper()}:443/{path}",
        f"http://{host}//{path}/.git/..".removesuffix("/.git/.."),
    )
    assert {canonical(form) for form in forms} == {f"{host}/{path}"}


@given(one=st.tuples(_HOSTS, _PATHS), other=st.tuples(_HOSTS, _PATHS))
def test_different_remotes_have_different_names(one: tuple[str, str], other: tuple[str, str]) -> None:
    urls = [f"https://{host}/{path}" for host, path in (one, other)]
    assert (canonical(urls[0]) == canonical(urls[1])) == (one == other)


@given(st.text())
def test_any_text_has_no_name_or_a_host_and_a_path_on_one_line(text: str) -> None:
    name = canonical(text)
    assert name is None or (all(name.partition("/")) and len(name.split()) == 1)


@pytest.mark.parametrize(
    "url",
    [
        "/srv/git/shop.git",
        "../shop",
        "file:///srv/git/shop.git",
        "C:\\shop",
        "C:/shop",
        "ext::sh -c whoami",
        "https://",
        "https://host/../x",
        "https://[::1",
        "",
    ],
)
def test_a_remote_that_only_this_machine_reaches_has_no_name(url: str) -> None:
    assert canonical(url) is None


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("git@github.com:Ada/Shop.git", "github.com/ada/shop"),
        ("ssh://git@ssh.github.com:443/ada/shop", "github.com/ada/shop"),
        ("ssh://git@host:2222/ada/shop", "host:2222/ada/shop"),
        ("git@[::1]:ada/shop.git", "[::1]/ada/shop"),
        ("https://host/Ada/shop", "host/Ada/shop"),
    ],
)
def test_ports_aliases_and_letters_of_a_remote(url: str, name: str) -> None:
    assert canonical(url) == name


def test_a_stored_url_has_no_password() -> None:
    assert without_login("https://ada:secret@host/x.git?token=t") == "https://host/x.git"
    assert without_login("ssh://git:secret@host:22/x.git") == "ssh://git@host:22/x.git"
    assert without_login("git@host:x.git") == "git@host:x.git"
