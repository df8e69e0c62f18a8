"""The prebuilt workflows: scripts over `runtime.zoekt_tools`, as agents write them too."""
