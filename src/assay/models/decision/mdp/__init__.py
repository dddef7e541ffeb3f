"""Decision processes: the process, its tables on disk, and what solving it gives."""
