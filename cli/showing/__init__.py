"""Commands that run nothing: they show what there is, results among it."""
