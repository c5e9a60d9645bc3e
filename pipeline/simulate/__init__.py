"""Invented runs: a true timeline, the logs that it would have left, and its true ledger."""
