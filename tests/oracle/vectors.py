"""The nearest vectors, as a sort of all of them."""


def nearest(rows, factors, wanted, query, most):
    """Row numbers and scores, the greatest first, then the lower row."""
    scored = [
        (-sum(a * b for a, b in zip(row, query, strict=True)) * factor, number)
        for number, (row, factor, is_wanted) in enumerate(zip(rows, factors, wanted, strict=True))
        if is_wanted
    ]
    return [(number, -score) for score, number in sorted(scored)[:most]]
