"""What runs inside the box, in an interpreter of its own: standard library only.

Nothing here may import triseek's other modules: the box does not have them.
"""
