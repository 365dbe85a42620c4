"""Find changes that make a suite pass in place of the product. It compares texts and runs nothing.

Five changes turn a failing suite green without a correct product: fewer tests are collected, a test checks
less, a failure no longer counts, the runner is configured otherwise, the expected value comes from the
product.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.proof.suites.model import Change, Citation, Finding, Kind, Order, Severity
from asbuilt.proof.suites.orders import settled
from asbuilt.proof.suites.places import Role, parents, role_of
from asbuilt.proof.suites.placing import by_place
from asbuilt.proof.suites.redirecting import redirected
from asbuilt.proof.suites.runner_settings import compare_pytest, compare_settings
from asbuilt.proof.suites.traces import traces

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Change", "Citation", "Finding", "Kind", "Order", "Severity", "tampering"]


def tampering(changes: Iterable[Change], order: Order) -> tuple[Finding, ...]:
    """Compare the suite of two trees. Pass every file that differs, product and data too.

    A renamed file is two changes, one without `after`, one without `before`. `order.text` is the frozen text
    of the phase, never a later reading. `order.unchanged` has the unchanged runner settings, which determine
    what is collected. `fails` is tampering, `sign_off` needs a sign-off, `note` goes into the evidence, and
    `allowed` is a change that the plan orders, with the line that orders it.
    """
    every = [change for change in changes if change.before != change.after]
    findings = [*traces(every), *redirected(every)]
    moved = {change.after for change in every if change.before is None and change.after is not None}
    folders = tuple(
        sorted({top for change in every if change.after is not None for top in parents(change.path)})
    )
    findings += compare_pytest(
        [change for change in every if role_of(change.path) is Role.SETTINGS], order, folders
    )
    for change in every:
        role = role_of(change.path)
        if role is Role.SETTINGS:
            findings += compare_settings(change, order)
        elif not (change.after is None and change.before in moved):
            findings += by_place(change, role, order.command)
    told = dict.fromkeys(settled(finding, order) for finding in findings)
    return tuple(sorted(told, key=_order))


def _order(finding: Finding) -> tuple[str, int, str, str]:
    return finding.path, finding.line_after or finding.line_before or 0, finding.kind, finding.test
