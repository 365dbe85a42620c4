"""Agents that speak the Agent Client Protocol: codex, gemini, opencode, Claude Code through its adapter."""
