"""Commands that make something to keep: policies, data sets, controllers, schemes."""
