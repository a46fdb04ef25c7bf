"""Callers on this machine: whoever can read the link token can enter the data directory anyway."""

import logging

from nemutator_common import names
from nemutator_common.data_directory import DataDirectory
from nemutator_common.data_directory_files import read_link_token
from nemutator_common.errors import OperatorError
from nemutator_common.secret import Secret

from nemutator_controller.access.callers import LOCAL, Caller

log = logging.getLogger(__name__)


class LinkToken:
    """A `Callers` that reads the token anew each time, because each `nemutator up` renews it."""

    def __init__(self, directory: DataDirectory) -> None:
        self._directory = directory

    async def recognise(self, authorization: str | None) -> Caller | None:
        scheme, _, credentials = (authorization or "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        try:
            token = read_link_token(self._directory)
        except OperatorError as error:
            log.error("link_token_unreadable", {names.ERROR: error.what})
            return None
        # An empty file may not admit an empty token.
        return LOCAL if token and Secret(credentials.strip()) == token else None
