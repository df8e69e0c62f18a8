"""Posting lists as lists of integers."""


def encode(numbers: list[int]) -> bytes:
    """Varints of the steps between the numbers, the first from zero."""
    steps = [b - a for a, b in zip([0, *numbers], numbers, strict=False)]
    return b"".join(varint(step) for step in steps)


def varint(value: int) -> bytes:
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + varint(value >> 7)


def decode(data: bytes, blocks: int) -> list[int] | None:
    """The numbers, or None: cut short, of more than five bytes, standing still or out of range."""
    numbers, value, shift, step = [], 0, 0, 0
    for byte in data:
        step |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            value += step
            if value >= blocks or (numbers and step == 0):
                return None
            numbers.append(value)
            shift = step = 0
        elif shift > 28:
            return None
    return None if shift else numbers
