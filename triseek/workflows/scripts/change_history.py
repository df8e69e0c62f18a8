"""List the commits that added or removed a text."""

from runtime.zoekt_tools import git_log


def run(args):
    """Return the commits of a repository in which the number of occurrences changes."""
    try:
        text, repo, path = args["text"], args["repo"], args["path"]
        commits = git_log(repo, text, path, args["limit"])
        return {"text": text, "repo": repo, "path": path, "commits": commits}
    except Exception as error:
        print(f"change_history failed: {error}")
        return 1
