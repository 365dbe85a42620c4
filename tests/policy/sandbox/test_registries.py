"""Which registries package tools are set to and made for."""

from __future__ import annotations

import pytest

from asbuilt.policy.sandbox.registries import hosts_in, made_for, paths_in, quoted_hosts


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("registry = https://npm.corp.example/repo/\n", ("npm.corp.example:443",)),
        ("index-url = http://ann:pw@pypi.corp.example:8081/simple\n", ("pypi.corp.example:8081",)),
        ("extra-index-url = http://a.example/ https://b.example/\n", ("a.example:80", "b.example:443")),
        ("cert = /etc/ssl/ca.pem\n", ()),
    ],
)
def test_hosts_that_settings_name_have_their_port(text: str, hosts: tuple[str, ...]) -> None:
    assert hosts_in(text) == hosts


def test_folders_that_settings_name_are_found() -> None:
    text = "[global]\nfind-links = /srv/wheels\nextra-index-url = file:///opt/mirror/simple/\n"
    assert paths_in(text) == ("/srv/wheels", "/opt/mirror/simple")


def test_a_programs_own_registries_are_found_and_its_other_addresses_are_not() -> None:
    program = (
        b"\0https://index.crates.example/\0https://docs.example/guide\0https://proxy.golang.example,direct\0"
    )
    assert made_for(program) == (
        "*.crates.example",
        "*.golang.example",
        "index.crates.example:443",
        "proxy.golang.example:443",
    )


def test_hosts_in_the_source_of_a_tool_are_found() -> None:
    source = b'PyPI = PackageIndex("https://index.example/", file_storage_domain="files.example")\n'
    assert quoted_hosts(source) == ("index.example:443", "files.example:443")
