"""Commands that fly something and say what was measured."""
