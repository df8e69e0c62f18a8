"""The handlers of the history tools: `handler(context, request, call)` returns the answer."""
