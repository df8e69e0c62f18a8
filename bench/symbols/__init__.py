"""Definitions by tree-sitter beside those of universal-ctags, and what they cost."""
