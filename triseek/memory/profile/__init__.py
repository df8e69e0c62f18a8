"""The profile: a memory server with the bytes of the trusty-memory contract, by standard streams.

It needs no daemon and no MCP package. It is a dress of `triseek.memory.service`, as the toolset
`memory` of `triseek mcp serve` is another.
"""
