from __future__ import annotations

from tests.journal.conftest import postgres, store, where

__all__ = ["postgres", "store", "where"]
