"""Traces that somebody else recorded: one reader a format, one record model."""
