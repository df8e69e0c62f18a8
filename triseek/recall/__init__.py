"""Search over texts with times: a ranking of sessions or messages, and its index.

A message is a text; a session is the run of messages in which it stands. The history's are those of
conversations; the memory's are drawers, and drawers that were written near one another.
"""
