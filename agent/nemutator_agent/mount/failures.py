"""How the credentials process may fail us."""


class CredentialsUnavailableError(Exception):
    """No answer, or not the one that was asked for; the text is shown on the pod."""


class CredentialsRefusedError(CredentialsUnavailableError):
    """It lives, and does not do this: asking for something else may work."""
