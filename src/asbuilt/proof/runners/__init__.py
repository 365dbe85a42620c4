"""Command lines of test runners: with a report, for some tests only, or up to the first failure."""

from asbuilt.proof.runners.calls import failing_fast, narrowed, only, real_argv, reporting, runner_of
from asbuilt.proof.runners.table import Call, Runner

__all__ = ["Call", "Runner", "failing_fast", "narrowed", "only", "real_argv", "reporting", "runner_of"]
