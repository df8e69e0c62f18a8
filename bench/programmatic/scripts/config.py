from runtime.zoekt_tools import search

CODE = "[.](py|go|rs|ts|tsx|js)$"
DOCS = "[.](md|rst|txt|adoc)$"


def run(args):
    word, repo = r"content:\b" + args["name"] + r"\b case:yes", args["repo"]
    answer = {}
    for kind, files in (
        ("read", f"f:{CODE} -f:test"),
        ("documented", f"f:{DOCS}"),
        ("tested", f"f:test -f:{DOCS}"),
        ("set", f"-f:test -f:{CODE} -f:{DOCS}"),
    ):
        answer[kind] = []
        for hit in search(f"{word} {files}", 25, 0, repo):
            lines = ",".join(str(match["line_number"]) for match in hit["matches"])
            text = hit["matches"][0]["text"].strip()[:100] if kind in ("read", "set") else ""
            answer[kind].append(f"{hit['filename']}:{lines} {text}")
    return answer
