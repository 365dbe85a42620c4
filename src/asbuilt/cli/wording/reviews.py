"""Words for the review of a plan at a forge."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from asbuilt.cli.ui.clock import ago

if TYPE_CHECKING:
    from asbuilt.journal.approvals import Approval
    from asbuilt.journal.reviews import Review


def under_review(review: Review | None, asked: Approval, now: datetime) -> str:
    """Return the state of a question's review, and when the worker last polled it; empty without a review."""
    if review is None or review.question != asked.number:
        return ""
    polled = f"polled {ago(review.looked_at, now)} ago" if review.looked_at else "not polled yet"
    failed = review.failed
    error = (
        f" The last poll failed: {failed.what.removesuffix('.')}. {failed.next}" if failed is not None else ""
    )
    return f"In review: {review.url}, {polled}.{error}".rstrip()
