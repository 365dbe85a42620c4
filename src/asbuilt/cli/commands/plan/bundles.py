"""`asbuilt plan` export and import: a plan as one bundle for another machine, or from a Markdown file.

Rule: the text is taken over byte for byte, and no plan is overwritten.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from shlex import quote

import click

from asbuilt.cli.commands.plan.new import plans_folder
from asbuilt.cli.shell.options import Door, subcommand
from asbuilt.cli.shell.plan_context import complete_plan, desk_for, problem_counts
from asbuilt.cli.ui.messages import next_command
from asbuilt.cli.ui.screen import printable
from asbuilt.cli.ui.words import counted
from asbuilt.errors import NameTaken, NotFound, PlanUnreadable
from asbuilt.library.atomic_files import create
from asbuilt.library.bounded_read import read_bytes, within
from asbuilt.library.bundle import MAX_BUNDLE, Packed, pack, unpack
from asbuilt.library.new_plan_file import put_named, put_new
from asbuilt.library.search_path import Library, PlanFile, describe, is_inside, plans
from asbuilt.plan.markdown.source import digest
from asbuilt.plan.reader import read


@subcommand(
    "export",
    ("asbuilt plan export rate-limit > rate-limit.json", "one bundle, to send"),
    ("asbuilt plan export rate-limit -o rate-limit.json", "the same; never overwrites"),
    ("asbuilt plan export rate-limit | ssh box asbuilt plan import -", "straight to another machine"),
)
@click.argument("plan", shell_complete=complete_plan)
@click.option("-o", "--output", metavar="FILE", help="write it there instead of to stdout")
def export(door: Door, plan: str, output: str | None) -> None:
    """Pack a plan, with the progress document it names, for `asbuilt plan import` elsewhere."""
    opened = desk_for(door).open(plan)
    bundle = pack(opened)
    if output is None:
        door.screen.emit_json(bundle)
        return
    file = door.start / output
    create(file, (json.dumps(bundle) + "\n").encode(), name=output)
    door.screen.answer(f"Wrote {printable(output)}: {opened.at.slug}, {opened.plan.digest[:15]}")


@subcommand(
    "import",
    ("asbuilt plan import rate-limit.json", "a bundle from asbuilt plan export"),
    ("asbuilt plan import ~/Downloads/PLAN.md --name login", "a Markdown plan, under a name"),
    ("asbuilt plan import -", "from stdin"),
    json=False,
)
@click.argument("source", metavar="FILE", type=click.Path())
@click.option("--name", metavar="NAME", help="the name it gets here")
@click.option("--user", is_flag=True, help="put it into your own folder, not into the repository")
def bring(door: Door, source: str, *, name: str | None, user: bool) -> None:
    """Import a plan from a file; an existing plan is never changed."""
    desk = desk_for(door)
    library = desk.library
    folder = library.user_folder if user else plans_folder(library)
    packed = _packed(door, source)
    plan = read(packed.data)
    twin = _twin(library, plan.digest)
    if twin is not None and name is None:
        door.screen.answer(f"{printable(twin.shown)} is this very plan already; nothing was written.")
        return
    beside = _beside(library, folder, packed)
    put = put_named if name else put_new
    file = put(folder, name or packed.name, packed.data, show=lambda file: describe(library, file).shown)
    if beside is not None and packed.progress_document is not None:
        create(beside, packed.progress_document.data, name=describe(library, beside).shown)
    at = describe(library, file)
    summary = (
        f"{plan.format.value}, {counted(len(plan.phases), 'phase')}, {problem_counts(plan) or 'no problems'}"
    )
    more = f" and {printable(describe(library, beside).shown)}" if beside is not None else ""
    door.screen.answer(f"Wrote {printable(at.shown)}{more}: {summary}.")
    next_command(door, f"asbuilt plan show {desk.name_of(at)}")


def _packed(door: Door, source: str) -> Packed:
    if source == "-":
        data = sys.stdin.buffer.read(MAX_BUNDLE + 1) if sys.stdin is not None else b""
        within(data, MAX_BUNDLE, "stdin")
        fallback = "imported"
    else:
        file = door.start / source
        data, fallback = read_bytes(file, limit=MAX_BUNDLE, name=source), file.name.removesuffix(".md")
    if not data.strip():
        raise PlanUnreadable(
            f"{'stdin' if source == '-' else source} holds nothing",
            why="The input is empty; the command that writes it may have failed.",
            next_step="`asbuilt plan import FILE`, or correct the command before the pipe."
            if source == "-"
            else f"`ls -l {quote(source)}`",
        )
    return unpack(data) or Packed(fallback, data)


def _beside(library: Library, folder: Path, packed: Packed) -> Path | None:
    """Return the path of the progress document; None if it is missing in the bundle, or exists unchanged."""
    if packed.progress_document is None:
        return None
    file = folder / packed.progress_document.file
    # The name comes from another machine: it must not lead out of the folder.
    if not is_inside(file, folder):
        raise PlanUnreadable(
            f"the bundle cannot be imported: its progress document is called {packed.progress_document.file}",
            why="That leads out of the folder where plans are kept.",
            next_step="Copy the plan and its progress document by hand.",
        )
    if not os.path.lexists(file):
        return file
    if read_bytes(file) == packed.progress_document.data:
        return None
    raise NameTaken(
        f"{describe(library, file).shown} exists already, with different text",
        why="It is the progress document of the plan in the bundle; nothing is ever overwritten.",
        next_step=f"`mv {quote(str(file))} {quote(f'{file}.old')}`, or put the plan elsewhere with --user.",
    )


def _twin(library: Library, wanted: str) -> PlanFile | None:
    for at in plans(library):
        with suppress(PlanUnreadable, NotFound):  # another plan that cannot be read must not stop the import
            if digest(read_bytes(at.file)) == wanted:
                return at
    return None
