"""Which hosts are on a list, and what the proxy understands of a request."""

from __future__ import annotations

import contextlib
import ssl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.policy.agent_kinds import hosts_set
from asbuilt.policy.sandbox.hosts import (
    Asked,
    Host,
    Refused,
    host_in,
    is_public,
    listed,
    request_in,
    server_name,
    upstream_in,
)

LIST = (Host("good.test", 443), Host("*.wild.test", 443), Host("127.0.0.1", 4000, is_private=True))


def hello(name: str | None) -> bytes:
    """Make the first bytes of a real TLS connection."""
    inward, outward = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with pytest.raises(ssl.SSLWantReadError):
        context.wrap_bio(inward, outward, server_hostname=name).do_handshake()
    return outward.read()


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("docs.example.com", Host("docs.example.com", 443)),
        ("*.Example.com", Host("*.example.com", 443)),
        ("example.com:8443", Host("example.com", 8443, is_private=True)),
        ("127.0.0.1:4000", Host("127.0.0.1", 4000, is_private=True)),
        ("http://127.0.0.1:4000/", Host("127.0.0.1", 4000, is_private=True)),
        ("http://example.com", Host("example.com", 80)),
        ("[::1]:4000", Host("[::1]", 4000, is_private=True)),
        ("127.0.0.1", None),
        ("example.com:0", None),
        ("example.com:70000", None),
        ("*", None),
        ("*.", None),
        ("a.*.com", None),
        ("ftp://example.com", None),
        ("example.com/path", None),
        ("user@example.com", None),
        ("", None),
    ],
)
def test_an_entry_is_a_whole_name_with_perhaps_a_port(text: str, host: Host | None) -> None:
    assert host_in(text) == host


@pytest.mark.parametrize(
    ("host", "port"),
    [
        ("evilgood.test", 443),
        ("good.test.evil.test", 443),
        ("good.test", 22),
        ("wild.test", 443),
        ("xwild.test", 443),
        ("127.0.0.1", 443),
        ("127.0.0.1", 22),
    ],
)
def test_what_is_nearly_on_the_list_is_not(host: str, port: int) -> None:
    with pytest.raises(Refused, match="not on the list"):
        listed(LIST, host, port)


def test_what_is_on_the_list_is_found_by_whole_labels() -> None:
    assert [listed(LIST, host, port).name for host, port in
            (("good.test", 443), ("a.b.wild.test", 443), ("127.0.0.1", 4000))] == [
        "good.test", "*.wild.test", "127.0.0.1",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.0.0.5", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1"),  # noqa: S104
        *("255.255.255.255", "198.18.0.1", "192.0.2.1", "::1", "::", "fe80::1%lo", "fd00::1", "fec0::1"),
        *("ff0e::1", "::ffff:127.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001:db8::1"),
        *("2001:0:7f00:1::1", "3fff::1", "5f00::1", "100::1"),
    ],
)
def test_an_address_inside_is_not_public_in_any_notation(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["1.1.1.1", "160.79.104.10", "2606:4700::1111", "2a00:1450:4001::8a"])
def test_an_address_outside_is(address: str) -> None:
    assert is_public(address)


def test_a_tunnel_and_a_plain_request_are_understood() -> None:
    assert request_in(b"CONNECT Good.test:443 HTTP/1.1\r\nHost: other.test") == Asked("good.test", 443)
    asked = (
        b"POST http://good.test/x?y HTTP/1.1\r\nHost: evil.test\r\n"
        b"Proxy-Authorization: x\r\nX: y\r\nContent-Length: 3"
    )
    assert request_in(asked) == Asked(
        "good.test",
        80,
        b"POST /x?y HTTP/1.1\r\nHost: good.test:80\r\nConnection: close\r\nX: y\r\nContent-Length: 3\r\n\r\n",
    )


@pytest.mark.parametrize(
    "head",
    [
        b"CONNECT good.test:443 127.0.0.1:80 HTTP/1.1",
        b"CONNECT\tgood.test:443\tHTTP/1.1",
        b"CONNECT good.test@127.0.0.1:443 HTTP/1.1",
        b"CONNECT good.test\0.evil.test:443 HTTP/1.1",
        b"CONNECT good.test.:443 HTTP/1.1",
        b"CONNECT good%2etest:443 HTTP/1.1",
        "CONNECT \u212aood.test:443 HTTP/1.1".encode(),
        b"CONNECT good.test:443 HTTP/1.1\nX: y",
        b"CONNECT good.test:443 HTTP/1.1\r\nX : y",
        b"CONNECT good.test:443 HTTP/1.1\r\nX: y\r\n z",
        b"PRI * HTTP/2.0",
        b"GET / HTTP/1.1\r\nHost: good.test",
        b"GET https://good.test/ HTTP/1.1",
        b"GET ftp://good.test/ HTTP/1.1",
        b"POST http://good.test/ HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked",
        b"POST http://good.test/ HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4",
        b"",
    ],
)
def test_what_is_not_understood_whole_is_refused(head: bytes) -> None:
    with pytest.raises(Refused):
        request_in(head)


@given(st.binary(max_size=300))
def test_no_head_does_anything_but_be_read_or_refused(head: bytes) -> None:
    with contextlib.suppress(Refused):
        request_in(head)


def test_the_server_name_of_tls_is_read_from_its_first_bytes() -> None:
    data = hello("good.test")
    assert server_name(data) == "good.test"
    assert server_name(data[:4]) is None
    assert server_name(data[:-1]) is None


@pytest.mark.parametrize(
    "data",
    [
        hello(None),
        b"GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n",
        b"SSH-2.0-x\r\n",
        b"\x16\x03\x01\x00\x04\x01\x00\x00\x00",
        b"\x16\x03\x01\x00\x05" + hello("good.test")[5:10],
        b"\x16\x03\x01\x00\x40" + b"\xff" * 64,
    ],
)
def test_what_is_no_tls_with_a_name_is_refused(data: bytes) -> None:
    with pytest.raises(Refused):
        server_name(data)


@given(st.binary(max_size=300))
def test_no_bytes_do_anything_but_name_a_server_need_more_or_be_refused(data: bytes) -> None:
    with contextlib.suppress(Refused):
        server_name(b"\x16\x03\x01" + data)


@pytest.mark.parametrize(
    ("settings", "hosts"),
    [
        ('base_url = "http://127.0.0.1:4000/v1"\n', ("http://127.0.0.1:4000",)),
        (
            '{"options": {"baseURL": "https://gateway.example/v1", "apiKey": "k"}}',
            ("https://gateway.example:443",),
        ),
        ("GOOGLE_GEMINI_BASE_URL=https://gateway.example\n", ("https://gateway.example:443",)),
        ('homepage = "https://other.example"\n', ()),
    ],
)
def test_a_gateway_that_the_user_set_for_an_agent_is_its_models_host(
    settings: str, hosts: tuple[str, ...]
) -> None:
    assert hosts_set(settings) == hosts


@pytest.mark.parametrize(
    ("variables", "found"),
    [
        ({"HTTPS_PROXY": "http://proxy.corp.example:8080"}, ("proxy.corp.example", 8080)),
        ({"https_proxy": "proxy.corp.example:8080/"}, ("proxy.corp.example", 8080)),
        ({"ALL_PROXY": "socks5://proxy.corp.example:1080"}, None),
        ({"HTTP_PROXY": "http://proxy.corp.example:8080"}, None),
        ({}, None),
    ],
)
def test_a_companys_proxy_is_found(variables: dict[str, str], found: tuple[str, int] | None) -> None:
    assert upstream_in(variables) == found


def test_what_is_listed_itself_says_more_than_what_is_around_it() -> None:
    around, itself = Host("*.corp.example", 443), Host("index.corp.example", 443, is_private=True)
    assert listed((around, itself), "index.corp.example", 443) == itself
    assert listed((around, itself), "files.corp.example", 443) == around
