"""Advice of several brains on one PostgreSQL: any takes a report, one at a time learns from all."""
