"""Frames, launches and sources in, the chain from Python to the kernel out; reads files, runs nothing."""
