"""Kernel-name grammars: a name in, typed fields with spans out; pure."""
