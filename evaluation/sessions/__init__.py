"""A session: schemes x emulators x runs, run in order, resumed, kept on disk."""
