"""How the credentials process may fail us."""


class CredentialsUnavailableError(Exception):
    """It does not answer, or not as it should; the text is shown on the pod."""


class CredentialsRefusedError(CredentialsUnavailableError):
    """It runs, and refuses this request: another one may work."""
