"""Write an approved refinement into the plan's file.

Rule: only the checkout in which the refinement was started is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.cli.shell.site import asker
from asbuilt.flows.authoring.refinement import Refinements
from asbuilt.journal.ids import LOCAL, Address

if TYPE_CHECKING:
    from asbuilt.cli.shell.options import Door
    from asbuilt.cli.shell.site import Site
    from asbuilt.journal.approvals import Approval


def refinements_of(site: Site, plan: str) -> Refinements:
    """Return the refinements of a plan."""
    return Refinements(site.journal.store, site.journal.blobs, Address(LOCAL, site.repo, plan))


def file_refined(door: Door, site: Site, asked: Approval) -> None:
    """Write the approved text, if this is the checkout in which the refinement was started."""
    if site.lead:
        # The question belongs to another repository; on another machine a checkout may have the same path.
        return
    refinements = refinements_of(site, asked.plan)
    last = refinements.last()
    if last is None or last.run != asked.run or last.checkout != str(site.repository.root):
        return
    opened = site.desk.open(asked.plan)
    refinements.file(last, opened.plan, opened.at.file, name=opened.at.shown, actor=asker(door).actor)
