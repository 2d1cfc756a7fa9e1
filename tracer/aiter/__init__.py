"""aiter's own rules as pure functions of its files: layouts, merged CSVs, instance tables, dispatch."""
