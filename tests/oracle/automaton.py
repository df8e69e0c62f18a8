"""Automata, one state and one line at a time."""

MATCH, QUIT = 0, 1


def verdict(dfa, line: bytes) -> int:
    """1 if the line (without newline) matches, 2 if that is uncertain, else 0."""
    state = dfa.start
    for byte in line:
        state = int(dfa.table[dfa.offsets[byte] + state])
    if state in (MATCH, QUIT):
        return 1 if state == MATCH else 2
    return int(dfa.eol_accept[state])


def match_lines(dfa, text: bytes) -> list[tuple[int, int, int]]:
    """Begin, end and verdict of every line that is not certain not to match."""
    found, begin = [], 0
    for line in text.split(b"\n"):
        end = min(begin + len(line) + 1, len(text))
        said = verdict(dfa, line)
        if said and end > begin:
            found.append((begin, end, said))
        begin = end
    return found
