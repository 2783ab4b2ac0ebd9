"""Commands that run something and say what was measured."""
