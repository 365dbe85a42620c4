"""Land commits on a branch of the remote. Rule: it is a push with a lease, which happens once or not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from asbuilt.errors import ForgeFailed
from asbuilt.git.landing.land import Intent, Landed, Refused, TipMoved
from asbuilt.lifecycle.pull_request.forge import BranchMoved

if TYPE_CHECKING:
    from collections.abc import Callable

    from asbuilt.git.fleet.shared_refs import SharedRefs

_PROTECTED: Final = re.compile(
    r"(?i)protected branch|GH006|GH013|rule violations|pre-receive hook declined|"
    r"not allowed to push|prohibited by|status checks? (?:is|are) expected|TF402455"
)


def land_on_remote(
    shared: SharedRefs, intent: Intent, *, hold: Callable[[], object]
) -> Landed | TipMoved | Refused:
    """Move a branch of the remote. Safe to call again after a crash.

    `hold` is called right before the push; if it raises, the branch does not move.
    """
    branch = intent.ref.removeprefix("refs/heads/")
    hold()
    try:
        moved = shared.remote.push(branch, intent.new, expected=intent.old)
    except ForgeFailed as error:
        if not _PROTECTED.search(error.why):
            raise
        return Refused(
            kind="protected",
            paths=(),
            what=f"Not landed: the remote does not accept a push to {branch}.",
            why=f"{error.why[:400]} Nothing moved; the proven commits are kept.",
            next_step=f"Land it by a pull request: asbuilt run {shared.slug} --pr",
        )
    if isinstance(moved, BranchMoved):
        return TipMoved(ref=intent.ref, expected=intent.old, found=moved.found)
    shared.set_target(intent.new)
    return Landed(ref=intent.ref, new=intent.new, already=moved.already)
