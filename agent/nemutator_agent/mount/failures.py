"""How the credentials process may fail."""


class CredentialsUnavailableError(Exception):
    """It does not answer, or not as it should; the pod's Event shows the text."""


class CredentialsRefusedError(CredentialsUnavailableError):
    """It refuses this request; another one may succeed."""
