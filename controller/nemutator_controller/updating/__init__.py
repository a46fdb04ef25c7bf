"""Gives advice to pods that run: a SizingPolicy has their requests resized in place, journaled as any mutation."""
