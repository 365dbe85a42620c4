"""Programs that tell about the machine: none shows an environment or sets anything."""

from __future__ import annotations

import pytest

from tests.policy.programs.asking import refused

ALLOWED = [
    "date",
    "date +%Y-%m-%d",
    "date -d yesterday",
    "date --iso-8601",
    "uname",
    "uname -r",
    "whoami",
    "id -u",
    "id -un",
    "groups",
    "hostname -s",
    "nproc --all",
    "free -m",
    "uptime -p",
    "arch",
    "ps",
    "ps",
    "ps aux",
    "ps -p 1",
    "ps -eo pid,comm",
    "ps --pid=1",
    "ps -ef | head",
    "ps aux | grep python | head",
    "lscpu | head",
    "who",
    "tty",
    "getconf PAGESIZE",
    "locale",
    "sw_vers",
    "lsb_release -a",
    "hostname",
]
REFUSED = [
    "ps aux --sort=-%mem",
    "ps -u root -o pid,etime",
    "ps -p 1 -o pid,comm",
    "ps -u e",
    "ps -f u -C e",
    "ps -t e",
    "hostname -I",
    "date -s 10:00",
    "date 010203042026",
    "date --set=x",
    "date -f .env",
    "hostname x",
    "hostname -F x",
    "hostname -f",
    "ps e",
    "ps auxe",
    "ps -auxe",
    "ps eww",
    "ps -E",
    "ps axe",
    "ps -u root e",
    "ps -o pid,environ",
    "ps -eo environ",
    "ps -C bash -e e",
    "date *",
    "pgrep x | xargs kill",
    "arch x",
    "uname -a x",
    "nproc x",
]


@pytest.mark.parametrize("text", ALLOWED)
def test_what_only_reads_is_allowed(text: str) -> None:
    assert refused(text) is None


@pytest.mark.parametrize("text", REFUSED)
def test_what_may_do_more_is_refused(text: str) -> None:
    assert refused(text) is not None
