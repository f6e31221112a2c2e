"""Typed records to rows of the stored tables: one module per table, and how rows become Arrow."""
