"""Write a text as one word of a shell. Pure.

The one rule: a word is bare only where every shell agrees on what it is.
"""


def quoted(text: str) -> str:
    """Give the word."""
    bare = text.translate(_PLAIN)
    return text if bare.isascii() and bare.isalnum() else "'" + text.replace("'", "'\\''") + "'"


_PLAIN = dict.fromkeys(map(ord, "/-._"))
