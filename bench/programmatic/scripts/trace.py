from runtime.zoekt_tools import find_repos, search, search_symbols


def run(args):
    name = args["name"]
    word = r"content:\b" + name + r"\b case:yes"
    hits = search_symbols(f"^{name}$ case:yes", 25)
    defined = [
        f"{hit['repository']}/{hit['filename']}:{match['line_number']}"
        for hit in hits
        for match in hit["matches"]
    ]
    own = {hit["filename"] for hit in hits}
    used = []
    for entry in find_repos(word, 50):
        files = search(word, 10, 0, entry["repository"])
        files.sort(key=lambda hit: hit["filename"] in own)
        used += [f"{hit['repository']}/{hit['filename']}:" for hit in files[:3]]
    return {"defined": defined, "used": used}
