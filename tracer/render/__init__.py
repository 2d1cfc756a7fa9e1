"""Reports in, pages and the site out."""
