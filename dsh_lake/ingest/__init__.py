"""One file at a time from bytes to rows: the unit of work of every scan, serial or spread."""
