"""How well context packs find the files a change went to: tasks made from real histories."""
