"""The heap profile that the runtime of a Go process keeps of itself, read from outside.

Nothing in the process is stopped, called or written: its memory is only read.
"""
