"""English in goals: words that say nothing of the code, and endings that words are found without.

Lists, kept short: what is missing from them costs little, for a word that is everywhere weighs
next to nothing anyway (`engine.bm25.idf`).
"""


def listed(words: str) -> frozenset[str]:
    """Return a list of words as a set."""
    return frozenset(words.split())


FILLERS = listed(
    "a about above add added adding adds after again all allow allowed allows also although always "
    "am an and any are as at be because been before being below better between both but by can "
    "cannot could did do does doing don done down during each either else ensure etc even ever "
    "every few fix fixed fixes fixing for from further get gets getting give given gives go goes "
    "got had has have having he hence her here him his how however i if implement implemented in "
    "instead into is it its itself just keep less let lets like make makes making many may me "
    "might more most much must my need needed needs never new no nor not now of off ok on once "
    "one only or other our out over own per please put properly same see seems set several shall "
    "she should show since so some still such sure take than that the their them then there these "
    "they this those though through to together too toward towards try trying two under until up "
    "update updated updates upon us use used uses using various very via want wants was way we "
    "well were what when where whether which while who whole whose why will with within without "
    "work working works would yes yet you your"
)
"""Never looked for."""

VAGUE = listed(
    "behavior behaviour bug bugfix bugs case cases change changed changes check code correct "
    "correctly crash crashes current data default error errors exception expected fail failed "
    "failing fails failure feature file files function functions handle handling improve incorrect "
    "incorrectly input invalid issue issues method methods missing name names object option "
    "options output panic path possible problem refactor regression remove removed result results "
    "return returned returning returns review right run running simplify support supported test "
    "tests type types unexpected user users value values variable warning wrong"
)
"""Looked for, and worth less than the rest: they tell what went wrong, not where."""

ENDINGS = (
    "izations", "ization", "ations", "ation", "ators", "ator", "ating", "ated", "ates", "ings",
    "ments", "ment", "ions", "ing", "ion", "ies", "ers", "ate", "ed", "es", "er", "ly", "s", "e",
    "y",
)  # fmt: skip
"""Longest first among those that end alike."""
