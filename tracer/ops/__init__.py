"""Ops that ktrace can run: inputs to build, the call to make, the work to count."""
