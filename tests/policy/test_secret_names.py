"""Names of files that hold secrets wherever they are, and names that only look like them."""

from __future__ import annotations

import pytest

from tests.policy.programs.asking import refused


@pytest.mark.parametrize(
    "name",
    [
        ".vault_pass",
        ".dev.vars",
        ".dev.vars.production",
        ".docker/config.json",
        "deploy/.docker/config.json",
        "auth.json",
        "local.settings.json",
        ".claude/settings.local.json",
        "/srv/krb5cc_0",
        "/srv/krb5cc_*",
        "/usr/local/etc/npmrc",
    ],
)
def test_a_file_that_holds_a_login_by_its_name_is_not_read(name: str) -> None:
    assert refused(f"cat {name}") is not None


@pytest.mark.parametrize(
    "name",
    [
        "config.json",
        "docker/config.json",
        ".claude/settings.json",
        "settings.local.json",
        "src/auth.py",
        "auth.json.example",
        "src/krb5.c",
        "docs/npmrc.md",
    ],
)
def test_a_name_that_is_like_one_of_those_is_read(name: str) -> None:
    assert refused(f"cat {name}") is None
