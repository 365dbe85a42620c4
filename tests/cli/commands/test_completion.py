"""Completion scripts are printed, say how to install them, and ask the command for names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from asbuilt.cli.shell.app import COMMANDS

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize(
    ("shell", "first", "last"),
    [
        (
            "bash",
            snapshot("_asbuilt_completion() {"),
            snapshot(
                "# To install: asbuilt completion bash > ~/.local/share/bash-completion/completions/asbuilt"
            ),
        ),
        (
            "zsh",
            snapshot("#compdef asbuilt"),
            snapshot('# To install: asbuilt completion zsh > "${fpath[1]}/_asbuilt"'),
        ),
        (
            "fish",
            snapshot("function _asbuilt_completion;"),
            snapshot("# To install: asbuilt completion fish > ~/.config/fish/completions/asbuilt.fish"),
        ),
    ],
)
def test_a_script_says_how_to_install_it(
    asbuilt: Callable[..., str], shell: str, first: str, last: str
) -> None:
    code, stream, *script = asbuilt("completion", shell).rstrip("\n").split("\n")
    assert (code, stream, script[0], script[-1]) == ("exit 0", "--- stdout", first, last)


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (
            "asbuilt co",
            snapshot("""\
exit 0
--- stdout
plain,config
plain,completion
"""),
        ),
        (
            "asbuilt config ",
            snapshot("""\
exit 0
--- stdout
plain,show
plain,set
plain,unset
"""),
        ),
        (
            "asbuilt config show land",
            snapshot("""\
exit 0
--- stdout
plain,landing.mode
plain,landing.direct
plain,landing.sign
plain,landing.programs
plain,landing.branch_prefix
plain,landing.reports
plain,landing.ci_poll_s
plain,landing.ci_limit_s
plain,landing.ci_fixes
"""),
        ),
        (
            "asbuilt config show --o",
            snapshot("""\
exit 0
--- stdout
plain,--origin
"""),
        ),
        (
            "asbuilt config set landing.mode pr --u",
            snapshot("""\
exit 0
--- stdout
plain,--user
"""),
        ),
        (
            "asbuilt completion ",
            snapshot("""\
exit 0
--- stdout
plain,bash
plain,zsh
plain,fish
"""),
        ),
        (
            "asbuilt nothing ",
            "exit 0\n--- stdout\n" + "".join(f"plain,{name}\n" for name in COMMANDS),
        ),
    ],
)
def test_the_tab_key_offers_what_can_stand_there(
    asbuilt: Callable[..., str], words: str, offered: str
) -> None:
    position = str(len(words.split(" ")) - 1)
    told = asbuilt(_ASBUILT_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=position)
    assert told == offered
