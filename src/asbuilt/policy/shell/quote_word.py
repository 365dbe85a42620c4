"""Quote a text as one word of a shell. Pure.

Rule: a word is bare only if every shell reads it alike.
"""


def quoted(text: str) -> str:
    """Return the word."""
    bare = text.translate(_PLAIN)
    return text if bare.isascii() and bare.isalnum() else "'" + text.replace("'", "'\\''") + "'"


_PLAIN = dict.fromkeys(map(ord, "/-._"))
