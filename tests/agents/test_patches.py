"""Changes of files are read from patches, whatever else their text is."""

from __future__ import annotations

import pytest

from triseek.agents.patches import edits_of_patch, sides
from triseek.model.conversation import Edit


def test_each_file_of_a_patch_is_an_edit():
    patch = (
        "*** Begin Patch\n*** Add File: new.py\n+a = 1\n+b = 2\n"
        "*** Update File: src/../old.py\n@@ def f\n def f():\n-    x\n+    y\n"
        "*** Update File: from.py\n*** Move to: to.py\n@@\n-m\n+n\n*** End of File\n"
        "*** Delete File: /abs/gone.py\n*** End Patch\n"
    )
    assert edits_of_patch(patch, "/w") == (
        Edit(path="/w/new.py", after="a = 1\nb = 2\n"),
        Edit(path="/w/old.py", before="def f():\n    x\n", after="def f():\n    y\n"),
        Edit(path="/w/to.py", before="m\n", after="n\n"),
        Edit(path="/abs/gone.py"),
    )


@pytest.mark.parametrize("patch", ["", "no patch", "*** Update File: \n-a", "+a\n-b\n*** "])
def test_what_names_no_file_is_no_edit(patch):
    assert edits_of_patch(patch, "/w") == ()


def test_a_relative_path_below_an_unknown_folder_is_no_edit():
    assert edits_of_patch("*** Add File: a\n+b\n", "") == ()


def test_the_sides_of_a_diff_have_the_context():
    diff = ["--- a", "+++ b", "@@ -1,2 +1,2 @@", " one", "-two", "+2", "\\ No newline at end"]
    assert sides(diff) == ("one\ntwo\n", "one\n2\n")
