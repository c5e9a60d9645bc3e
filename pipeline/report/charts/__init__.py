"""Charts: plain values in, SVG out; one module per kind, and every label placed by its measured width."""
