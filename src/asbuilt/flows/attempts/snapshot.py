"""Keep the tree of an attempt under a ref, before anything else touches its workspace."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from asbuilt.errors import TreeTooLarge
from asbuilt.events.attempts import AttemptLost, TreeKept, TreeRefused
from asbuilt.flows.checks.prove import tree_of
from asbuilt.flows.landing.commits import attempt_of
from asbuilt.flows.run.record import Record
from asbuilt.git.workspace import snapshots, workspaces
from asbuilt.lifecycle.delivery.facts import DeliveryFacts
from asbuilt.lifecycle.pull_request.facts import REPAIRS
from asbuilt.lifecycle.run.moves import Keep
from asbuilt.ports import Workspace

if TYPE_CHECKING:
    from asbuilt.flows.context import Context
    from asbuilt.flows.pull_request.repairs import Ground


def keep_early(record: Record, workspace: Workspace, attempt: str) -> None:
    """Keep an attempt's files before its end is recorded; `keep` reports those that are too large."""
    if record.shared is None:
        return
    repository, at = record.shared.remote.repository, record.author().at
    with suppress(TreeTooLarge):
        snapshots.keep(
            repository, workspace, attempt, parent=workspaces.head_of(repository, workspace), at=at
        )


def keep(context: Context, facts: DeliveryFacts, move: Keep, ground: Ground) -> None:
    """Keep the files that an attempt wrote, or record that they are lost or too large."""
    record, repository, base = context.record, context.repository, ground.base
    phase_id, number = move.phase, move.number
    attempt = f"{record.run.run}.{phase_id}.{number}"
    folder = context.lane_folder(ground.lane)
    if not folder.is_dir() and snapshots.kept(repository, attempt) is None:
        reason = f"Its files were on a worker that was lost: {folder} is not here."
        start = attempt_of(facts.part(phase_id), number).starts
        key = f"{phase_id}/{number}/lost/{start}"
        record.append(AttemptLost(phase=phase_id, number=number, reason=reason), key)
        return
    workspace = context.workspace(
        ground.lane, base, files_of=snapshots.kept(repository, attempt) or ground.files_of
    )
    author = record.author()
    kept = snapshots.found(repository, attempt)
    # A journal that is older than the repository repeats this move, possibly after another attempt wrote
    # files into the workspace. Keep again only while the workspace is this attempt's.
    lent = workspaces.lent_to(workspace)
    # A new workspace of a run of the fleet has the files that a lost worker kept.
    is_its_own = kept is None or lent == attempt or (record.shared is not None and lent is None)
    if kept is None or lent == attempt:
        try:
            kept = snapshots.keep(repository, workspace, attempt, parent=base, at=author.at)
        except TreeTooLarge as error:
            again = attempt_of(facts.part(phase_id), number).refusals + 1
            key, reason = f"{phase_id}/{number}/refused/{again}", f"{error.what}. {error.next_step}"
            record.append(TreeRefused(phase=phase_id, number=number, reason=reason), key)
            return
    # asbuilt marks the plan and the user edits it. An agent's change to the plan file is reverted.
    if record.run.is_in_repository and is_its_own:
        kept = workspaces.put_back(
            repository, workspace, record.run.plan, kept=kept, base=base, author=author
        )
    if phase_id in REPAIRS:
        # Nothing else uses the workspace of a repair: leave exactly the kept tree in it.
        workspaces.reset_to(repository, workspace, kept.commit, kept=kept)
    record.append(
        TreeKept(
            phase=phase_id,
            number=number,
            commit=kept.commit,
            tree=kept.tree,
            changed=kept.tree != tree_of(repository, base),
        ),
        f"{phase_id}/{number}/kept",
    )
