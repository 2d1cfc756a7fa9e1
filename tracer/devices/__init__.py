"""Devices: peaks, caches and limits, each figure with its source."""
