"""Work, roofline, implications and shape patterns: pure arithmetic on a record."""
