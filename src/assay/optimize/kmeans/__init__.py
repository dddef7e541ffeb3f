"""Lloyd's iteration: seeding, passes, sums."""
