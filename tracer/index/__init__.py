"""The static index of aiter's Python and C++ sources."""
