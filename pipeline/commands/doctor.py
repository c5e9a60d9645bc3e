"""``goodput doctor``: what each file is taken for."""
