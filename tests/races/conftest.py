"""The stores that races are run on."""

from __future__ import annotations

from tests.journal.conftest import postgres, where

__all__ = ["postgres", "where"]
