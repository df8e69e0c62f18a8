"""The memo wing: a record of what agents have read, so that they need not read it again."""
