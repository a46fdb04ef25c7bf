"""The records of volumes, each in a file that is written as a whole. They lie where only mount can write:
what it mounts and unmounts follows from them."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nemutator_common import names
from nemutator_common.files import replace_file

from nemutator_agent.mount.records import LARGEST, VolumeRecord, decoded, encoded

log = logging.getLogger(__name__)

_SUFFIX = ".json"


@dataclass(eq=False, slots=True)
class RecordFiles:
    folder: Path
    kubelet_root: str

    def prepare(self) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def all(self) -> Iterator[VolumeRecord]:
        for path in sorted(self.folder.glob(f"*{_SUFFIX}")):
            try:
                with path.open("rb") as file:
                    content = file.read(LARGEST + 1)
                record = decoded(content, self.kubelet_root)
                if path.stem != record.volume.id:
                    raise ValueError("its name is not its volume's")
            except (OSError, ValueError) as error:
                # It stays there: people may want to look for the volume that it names.
                log.warning("record_unreadable", {names.PATH: path, names.ERROR: str(error)})
                continue
            yield record

    def write(self, record: VolumeRecord) -> None:
        replace_file(self._path(record.volume.id), encoded(record), durable=False)

    def remove(self, volume_id: str) -> None:
        self._path(volume_id).unlink(missing_ok=True)

    def _path(self, volume_id: str) -> Path:
        return self.folder / f"{volume_id}{_SUFFIX}"
