"""Prints of a review: PDF through typst, HTML through jinja2, from the same model and charts."""
