from runtime.zoekt_tools import outline, search_symbols, usages


def run(args):
    name, repo = args["name"], args["repo"]
    defined = [
        f"{hit['filename']}:{each['line']}-{each['end_line']}"
        for hit in search_symbols(f"^{name}$ case:yes", 25, repo)
        for each in outline(repo, hit["filename"])
        if each["name"] == name
    ]
    used = []
    for hit in usages(name, repo, 100):
        lines = ",".join(str(match["line_number"]) for match in hit["matches"])
        used.append(f"{hit['filename']}:{lines} {hit['matches'][0]['text'].strip()[:80]}")
    return {"defined": defined, "used": used}
