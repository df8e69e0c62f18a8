"""The functions that scripts call as `runtime.zoekt_tools`; they run outside of the box."""
