"""What an agent reads of a repository's own git settings."""

from __future__ import annotations

import pytest

from asbuilt.policy.masking import without_logins


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("\turl = https://ann:tok3n@forge.example/shop.git\n", "\turl = https://forge.example/shop.git\n"),
        ("\turl = https://tok3n@forge.example/shop.git\n", "\turl = https://forge.example/shop.git\n"),
        ("\textraheader = AUTHORIZATION: basic dG9r\n", ""),
        ("\tpushToken = tok3n\n", ""),
        ("\thelper = !echo password=tok3n\n", ""),
        ("\tpassword = tok\\\n3n\n", ""),
        (
            '\turl = "https://ann:\\\ntok3n@forge.example/shop.git"\n',
            '\turl = "https://forge.example/shop.git"\n',
        ),
        (
            "\turl = https://h/x.git?private_token=tok3n&a=1\n",
            "\turl = https://h/x.git?private_token=[secret]\n",
        ),
        ("\tsmtpPass = tok3n\n", ""),
        ("\tsshCommand = ssh -o X --password tok3nfour\n", "\tsshCommand = ssh -o X --password [secret]\n"),
        ("\tlogAllRefUpdates = \\\ntrue\n", "\tlogAllRefUpdates = \\\ntrue\n"),
        ("\turl = git@forge.example:shop.git\n", "\turl = git@forge.example:shop.git\n"),
        ("\trepositoryformatversion = 0\n", "\trepositoryformatversion = 0\n"),
    ],
)
def test_what_signs_in_is_left_out_and_all_else_stays(line: str, shown: str) -> None:
    assert without_logins(f"[a]\n{line}[b]\n") == f"[a]\n{shown}[b]\n"
