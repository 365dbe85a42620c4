"""The scripted agent keeps the contract that every agent has to keep."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.contracts.adapter import AdapterContract
from tests.contracts.attempts import AttemptsContract

if TYPE_CHECKING:
    from tests.agents.conftest import Machine


class TestScripted(AttemptsContract):
    @pytest.fixture
    def stage(self, machine: Machine) -> Machine:
        return machine


class TestScriptedDrive(AdapterContract):
    @pytest.fixture
    def stage(self, machine: Machine) -> Machine:
        return machine
