"""Support for coding agents: configuration, hook payloads and transcripts."""
