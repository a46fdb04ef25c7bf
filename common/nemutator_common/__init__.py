"""What all components share: the vocabulary, the wire format and how our processes behave."""

__version__ = "0.1.0"
