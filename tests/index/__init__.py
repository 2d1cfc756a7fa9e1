"""Tests of tracer.index."""
