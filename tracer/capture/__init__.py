"""Runs an op, live or dry, under hooks, and returns records; the only package that runs library code."""
