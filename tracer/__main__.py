"""`python -m tracer` is the command `ktrace`."""

from tracer.cli.main import main

main()
