"""Qwen Code, a fork of Gemini CLI: only its transcripts, as of 0.15.10."""

from __future__ import annotations

from triseek.agents.base import Agent
from triseek.agents.qwen_transcripts import QwenTranscripts


class Qwen(Agent):
    """The program `qwen`."""

    name = "qwen"
    title = "Qwen Code"
    programs = ("qwen",)
    project_folder = ".qwen"
    transcripts = QwenTranscripts()


AGENT = Qwen()
