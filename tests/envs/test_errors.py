"""What a message of bad input looks like."""

from ccgym.envs.errors import excerpt, one_line


def test_a_long_message_keeps_its_beginning_and_its_reason() -> None:
    said = one_line(f"ccgym eval: {'a' * 5000}: cannot write there: File name too long", 300)
    assert said.startswith("ccgym eval: aaa")
    assert said.endswith("aaa: cannot write there: File name too long")
    assert len(said) == 300


def test_a_message_is_printable_and_whole_where_it_can_be() -> None:
    assert one_line("a\nb\x1b...", 300) == "a\\nb\\x1b..."
    assert len(one_line("\x1b" * 5000, 300)) <= 300


def test_an_object_whose_text_raises_is_quoted_by_its_type() -> None:
    class MuteError(Exception):
        def __str__(self) -> str:
            raise RuntimeError("of the text")

    assert excerpt(MuteError()) == "a MuteError without a text"
