"""Tests of tracer.codeobjects."""
