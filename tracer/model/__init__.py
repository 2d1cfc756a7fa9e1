"""The typed record and what is said about it: plain frozen values that know nobody else."""
