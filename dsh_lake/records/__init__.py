"""Lines to typed records: one module per file format."""
