"""Go's own regular expressions, as Zoekt compiles them: a small program that Go builds."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

_PROGRAM = """
package main

import (
	"encoding/json"
	"os"
	"regexp"
	"regexp/syntax"
)

type ask struct {
	Pattern    string
	IgnoreCase bool
	OneLine    bool
	Texts      [][]byte
}

type answer struct {
	Error string
	Spans [][][]int
}

func main() {
	var asks []ask
	if err := json.NewDecoder(os.Stdin).Decode(&asks); err != nil {
		panic(err)
	}
	answers := make([]answer, len(asks))
	for i, a := range asks {
		flags := syntax.ClassNL | syntax.PerlX | syntax.UnicodeGroups
		if a.OneLine {
			flags = syntax.Perl
		}
		tree, err := syntax.Parse(a.Pattern, flags)
		if err != nil {
			answers[i].Error = err.Error()
			continue
		}
		prefix := ""
		if a.IgnoreCase {
			prefix = "(?i)"
		}
		compiled := regexp.MustCompile(prefix + tree.String())
		for _, text := range a.Texts {
			answers[i].Spans = append(answers[i].Spans, compiled.FindAllIndex(text, -1))
		}
	}
	json.NewEncoder(os.Stdout).Encode(answers)
}
"""


def build(folder: Path) -> Path | None:
    """Build the program in a folder; None where there is no Go."""
    go = shutil.which("go")
    if go is None:
        return None
    source = folder / "main.go"
    source.write_text(_PROGRAM, encoding="ascii")
    subprocess.run([go, "build", "-o", str(folder / "matches"), str(source)], check=True)
    return folder / "matches"


def ask(program: Path, asks: list[tuple[str, bool, bool]], texts: list[bytes]) -> list[Any]:
    """Return, for each pattern, whether it ignores case and whether it is one-line, what Go says.

    That is a message, or for each text the spans of all matches.
    """
    encoded = [base64.b64encode(text).decode() for text in texts]
    keys = ("Pattern", "IgnoreCase", "OneLine")
    sent = [{**dict(zip(keys, each, strict=True)), "Texts": encoded} for each in asks]
    done = subprocess.run(
        [program], input=json.dumps(sent), capture_output=True, text=True, check=True
    )
    return [
        answer["Error"]
        or [[tuple(span) for span in spans or ()] for spans in answer["Spans"] or ()]
        for answer in json.loads(done.stdout)
    ]
