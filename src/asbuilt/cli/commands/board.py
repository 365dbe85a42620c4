"""`asbuilt board`: every plan, agent and question in a browser."""

from __future__ import annotations

import sys
import webbrowser
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from typing import Final

import click

from asbuilt import wiring
from asbuilt.cli.shell.options import Door, subcommand
from asbuilt.cli.shell.plan_context import desk_for
from asbuilt.errors import DONE, NotFound
from asbuilt.journal.engine.liveness import board_address

_NONE_RUNS: Final = NotFound(
    "no board runs",
    why="A link leads to the board that runs.",
    next_step="`asbuilt board` starts it and prints a link.",
)


@subcommand(
    "board",
    ("asbuilt board", "start it, and open it in your browser"),
    ("asbuilt board --print-link", "another link to the board that runs; it works once"),
    ("asbuilt board --no-open --port 8642", "on a server, for an SSH tunnel"),
)
@click.option("--print-link", "only_link", is_flag=True, help="print a link that signs a browser in, once")
@click.option("--no-open", is_flag=True, help="start no browser")
@click.option("--port", type=click.IntRange(1024, 65535), help="this port; it is kept for the next start")
@click.option("--bind", default="127.0.0.1", metavar="HOST", help="listen on this address; needs TLS files")
@click.option("--certificate", type=click.Path(path_type=Path), help="TLS certificate, for --bind")
@click.option("--key", type=click.Path(path_type=Path), help="TLS key, for --bind")
def command(  # noqa: PLR0913 - the options of the command
    door: Door,
    *,
    only_link: bool,
    no_open: bool,
    port: int | None,
    bind: str,
    certificate: Path | None,
    key: Path | None,
) -> int:
    """Show every plan, agent and question in a browser, and answer there. Only this machine can connect."""
    settings = desk_for(door).settings
    journal = wiring.find_journal(settings, door.environ)
    if journal is None:
        raise NotFound(
            "nothing has run on this machine",
            why="The board shows runs.",
            next_step="`asbuilt plan list` shows what could be run.",
        )
    if find_spec("uvicorn") is None:
        raise NotFound(
            "the board is not installed",
            why="It needs a web server, which the other commands do not.",
            next_step="`uv tool install 'asbuilt[board]'`"
            if Path(sys.prefix, "uv-receipt.toml").is_file()
            else f"`{quote(sys.executable)} -m pip install 'asbuilt[board]'`",
        )
    from asbuilt.board import server  # noqa: PLC0415  the door's dispatch

    folder, at = journal.home.board, server.Bind(bind, port, certificate, key)
    if address := board_address(folder):
        if port and not only_link and not address.endswith(f":{port}"):
            raise server.runs_already(address)
        _show(door, server.link_to(folder, address), is_opened=not (no_open or only_link))
        if not (only_link or door.json):
            door.screen.talk("The board runs already.")
        return DONE
    if only_link or door.json:
        raise _NONE_RUNS
    with server.listening(folder, at) as (place, line):
        _show(door, server.link_to(folder, place.address), is_opened=not no_open)
        door.screen.talk("The link works once, for 10 minutes. Ctrl-C ends the board; runs continue.")
        server.serve(journal, wiring.zone(settings), folder, at, place, line)
    return DONE


def _show(door: Door, link: str, *, is_opened: bool) -> None:
    if door.emitted("asbuilt.board/1", {"link": link, "is_served": True}):
        return
    door.screen.answer(link)
    if is_opened:
        webbrowser.open(link)
