"""Gives secrets to the callers that may have them, and to no others."""
