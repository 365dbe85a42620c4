"""The contract over every agent that is pinned."""

from __future__ import annotations

import pytest

from tests.live.contract import Essentials, InFull, OfClaude

pytestmark = pytest.mark.live


class TestClaude(Essentials, InFull, OfClaude):
    agent = "claude"


class TestCodex(Essentials):
    agent = "codex-acp"


class TestGemini(Essentials):
    agent = "gemini"


class TestOpencode(Essentials):
    agent = "opencode"


class TestClaudeAcp(Essentials):
    agent = "claude-acp"


@pytest.mark.long
class TestCodexInFull(InFull):
    agent = "codex-acp"


@pytest.mark.long
class TestGeminiInFull(InFull):
    agent = "gemini"


@pytest.mark.long
class TestOpencodeInFull(InFull):
    agent = "opencode"


@pytest.mark.long
class TestClaudeAcpInFull(InFull, OfClaude):
    agent = "claude-acp"
