"""A shop for every journey back in time."""

from __future__ import annotations

from tests.journeys.conftest import postgres, shop, where

__all__ = ["postgres", "shop", "where"]
