"""The toolset history-work: what only a history of tool events can say, for agents."""
