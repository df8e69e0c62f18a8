"""The pack group: export, import, key, trust. A pack is a snapshot in one portable file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from triseek import paths
from triseek.sessions.commands import printing
from triseek.sessions.commands.snapshot import SnapshotId, snapshots
from triseek.terminal import options, report_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.model.snapshot import SnapshotManifest

app = typer.Typer(
    help="Snapshots in one file, .tcp, for another machine or another person.",
    no_args_is_help=True,
)


@app.command("export")
def export_pack(
    snapshot: SnapshotId,
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="FILE", help="Where to; here, as ID.tcp, if none."),
    ] = "",
    sign: Annotated[
        bool, typer.Option("--sign", help="Sign it with this machine's key, made the first time.")
    ] = False,
    json: options.Json = False,
) -> int:
    """Write a snapshot as a pack, and print the pack's path. It holds no files, but pinned lines.

    Examples: triseek pack export snap_1746300000_session_123 --output handoff.tcp ·
    triseek pack export snap_1746300000_session_123 --sign
    """
    target, size = exported(snapshot, output, sign=sign)
    if not json:
        printing.arrow(f"{snapshot} exported ({report_text.human_size(size)})")
    document = {"pack": target, "bytes": size, "snapshot_id": snapshot, "signed": sign}
    return printing.answer(document, target, as_json=json)


def exported(snapshot: str, output: str, *, sign: bool = False) -> tuple[str, int]:
    """Write a snapshot as a pack; return its path and its size in bytes.

    Raises:
        InvalidRequest: there is no such snapshot.
        StateUnwritable: the pack or the key cannot be written.
    """
    from triseek.sessions import pack, signing

    store = snapshots()
    store.get(snapshot)  # its errors say what is wrong
    target = output or f"{snapshot}.tcp"
    if os.path.isdir(target):
        target = os.path.join(target, f"{snapshot}.tcp")
    signer = (lambda sums: signing.sign(sums, paths.keys())) if sign else None
    return target, pack.export(store.folder(snapshot), target, signer)


@app.command("import")
def import_pack(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The pack.")],
    verify: Annotated[
        bool, typer.Option("--verify", help="Refuse it unless a key that you trust has signed it.")
    ] = False,
    json: options.Json = False,
) -> int:
    """Check a pack, keep it as a snapshot, and print the snapshot's id.

    Where the repository around this folder is at another place than the pack's, or has another
    history, that is said.

    Examples: triseek pack import handoff.tcp · triseek pack import handoff.tcp --verify
    """
    from triseek.sessions import pack, signing

    unpacked = pack.unpack(file)
    signed_by = None
    if verify:
        keys = signing.trusted(paths.keys())
        signed_by = signing.verify(unpacked.checksums, unpacked.signature, keys)
    manifest = snapshots().take_in(unpacked)
    differs = list(_differs(manifest, os.getcwd()))
    if not json:
        if signed_by:
            printing.arrow(f"signed by {signed_by}")
        printing.arrow(f"snapshot {manifest.snapshot_id} imported")
        printing.differs(differs)
    document = {
        "snapshot_id": manifest.snapshot_id,
        "manifest": manifest.document(),
        "signed_by": signed_by,
        "differs": differs,
    }
    return printing.answer(document, manifest.snapshot_id, as_json=json)


@app.command()
def key(json: options.Json = False) -> int:
    """Print the public half of this machine's key; it is made the first time.

    Example: triseek pack key
    """
    from triseek.sessions import signing

    public_key = signing.public_key(paths.keys())
    return printing.answer({"key": public_key}, public_key, as_json=json)


@app.command()
def trust(
    name: Annotated[
        str, typer.Argument(metavar="KEY", help="What `triseek pack key` prints at the sender's.")
    ],
    json: options.Json = False,
) -> int:
    """Trust packs that are signed with a key: `import --verify` takes them.

    Example: triseek pack trust 8f2a…  (64 hex digits, from somebody you know)
    """
    from triseek.sessions import signing

    signing.trust(paths.keys(), name)
    kept = signing.trusted(paths.keys())
    return printing.answer({"trusted": kept}, f"{len(kept)} keys are trusted", as_json=json)


def _differs(manifest: SnapshotManifest, folder: str) -> Iterator[str]:
    """Yield sentences on how the repository around a folder differs from the pack's."""
    from triseek.engine.roots import is_indexed, project
    from triseek.files.tree import git
    from triseek.files.tree.root import git_root

    root = project(folder)
    if git_root(root) is None and not is_indexed(root):  # no repository: is the pack's here?
        if not os.path.isdir(manifest.repo_root):
            yield f"{manifest.repo_root} is not here; resume in a clone of that repository"
            return
        root = manifest.repo_root
    same = git.is_same(manifest.repo_identity, git.identity(root))
    if same is False:
        yield f"{root} has another history than the repository of the snapshot"
    elif same is None and manifest.repo_root != root:
        yield f"whether {root} is the repository of the snapshot cannot be told from its history"
    if manifest.repo_root != root:
        yield f"the repository was at {manifest.repo_root}, and is at {root} here"
