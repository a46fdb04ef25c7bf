"""What every component shares: the vocabulary, the wire shapes and how a process of ours behaves."""

__version__ = "0.1.0"
