"""A database of each kind."""

from __future__ import annotations

from tests.journal.conftest import postgres, where

__all__ = ["postgres", "where"]
