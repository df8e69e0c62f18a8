"""The year as a heat map: one layout, drawn as text, as PNG and by the page."""
