"""The brain's certificate in its data directory, where its listeners load it again when it changes.

Certificate and key are two files, which OpenSSL reads one after the other. A listener refuses a pair
of which one is replaced, continues with the old pair and reads again.
"""

from pathlib import Path

from nemutator_common.data_directory_files import explained
from nemutator_common.files import replace_file
from nemutator_common.secret import Secret
from nemutator_common.serving.tls import TlsFiles

from nemutator_controller.registration.certificates import Pair


class LeafFiles:
    """An `OwnLeaf`."""

    def __init__(self, directory: Path) -> None:
        self.tls = TlsFiles(directory / "brain.crt", directory / "brain.key")

    def read(self) -> Pair | None:
        try:
            return Pair(self.tls.certificate.read_text(), Secret(self.tls.key.read_text()))
        except (OSError, UnicodeDecodeError):
            return None

    def write(self, pair: Pair) -> None:
        with explained(self.tls.certificate.parent):
            replace_file(self.tls.key, pair.key.reveal().encode(), durable=True)
            replace_file(self.tls.certificate, pair.certificate.encode(), durable=True)
