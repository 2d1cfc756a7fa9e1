"""The command line: a file a verb; the only package that prints."""
