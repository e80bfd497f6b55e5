"""Texts cut as `data.tokens=words` cuts them, as far as captions need it: no library of ours on the peer's side."""
import re

WORD = re.compile(r"<unk>|\w+(?:['’.:]\w+)*|[^\w\s]")


def words_of(text):
    """Words and signs, in order; those that follow a blank, or stand first, carry the mark of it."""
    return [("\u2581" if match.start() == 0 or text[match.start() - 1].isspace() else "") + match.group() for match in WORD.finditer(text)]
