"""Archives and object files: listing passes, unpacking does not."""

from __future__ import annotations

import pytest

from tests.policy.programs.asking import refused

ALLOWED = [
    "tar --version",
    "tar -tvf bundle.tar",
    "tar tf bundle.tar",
    "tar tzf bundle.tgz | head",
    "tar --list --file=bundle.tar",
    "unzip -l bundle.zip | tail -1",
    "unzip -p bundle.zip README.md",
    "gzip -l data.gz",
    "gunzip -c data.gz | head",
    "zipinfo bundle.zip",
    "readelf -h /bin/ls",
    "nm -D /usr/lib/libc.so",
    "objdump -h x.o",
    "size x.o",
]
REFUSED = [
    "tar xf x",
    "tar -tf x --to-command=ls",
    "tar -tf x -I ls",
    "tar tfI x ls",
    "tar -tf host:x",
    "tar --list --file=host:x",
    "tar -cf x y",
    "tar tf x --checkpoint-action=exec=ls --checkpoint=1",
    "unzip x",
    "unzip -q x",
    "unzip -o x",
    "unzip -l x -d y",
    "gzip x",
    "gzip -d x",
    "gunzip x",
    "gzip -dc x -k -f",
    "gzip -lc x --suffix=y",
    "nm --plugin x y",
    "objdump --plugin x y",
    "readelf @x",
    "nm @x",
]


@pytest.mark.parametrize("text", ALLOWED)
def test_what_only_reads_is_allowed(text: str) -> None:
    assert refused(text) is None


@pytest.mark.parametrize("text", REFUSED)
def test_what_may_do_more_is_refused(text: str) -> None:
    assert refused(text) is not None
