"""Commands that fly nothing: they show what there is, results among it."""
