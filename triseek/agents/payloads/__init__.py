"""The parts of hook payloads that several agents have in common."""
