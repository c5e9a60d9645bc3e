"""The review: marts become a model, and the model is printed as PDF, HTML, charts and JSON."""
