"""The commands: each parses its options, calls one stage, and prints one result."""
