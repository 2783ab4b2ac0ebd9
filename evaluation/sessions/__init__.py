"""A session: schemes x emulators x runs, flown in order, resumed, kept on disk."""
