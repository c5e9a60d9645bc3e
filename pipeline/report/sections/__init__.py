"""Pages of the review: one module per page, facts in, sentences with figures and tables out."""
