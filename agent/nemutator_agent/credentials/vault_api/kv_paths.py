"""Where a KV engine has in its API the document that people know by a shorter path."""

from nemutator_agent.credentials.vault.documents import EngineMount

_OF_DOCUMENTS = frozenset({"data", "delete", "undelete", "destroy", "metadata"})
"""What stands behind the mount in the paths of KV version 2 that change a document."""


def document_path(mount: EngineMount, path: str) -> str | None:
    """The document that a read of *path* gives, as references write it; None for anything else."""
    below = path.removeprefix(mount.path)
    if mount.version == 1 and below != path:
        return path
    kind, _, name = below.partition("/")
    return f"{mount.path}{name}" if mount.version == 2 and kind == "data" and name else None


def is_changed_by(mount: EngineMount, document: str, written: str) -> bool:
    """Whether a write to the path *written* can change what is read at *document*."""
    if mount.version != 2:
        return document == written
    kind, _, name = written.removeprefix(mount.path).partition("/")
    return kind in _OF_DOCUMENTS and document == f"{mount.path}{name}"


def without_data(path: str) -> str:
    """*path* as people know it, for a message to them: its mount is not known to be one of KV."""
    mount, _, below = path.partition("/")
    return f"{mount}/{below.removeprefix('data/')}" if below else path
