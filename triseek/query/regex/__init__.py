"""Regular expressions in ripgrep's dialect: syntax, parser, matchers."""
