"""Durable workflows: segments that decide the next move and perform it. Only this package imports dbos."""
