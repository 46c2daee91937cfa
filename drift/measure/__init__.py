"""The mathematics of the gauge: arrays in, frozen dataclasses out. No Django, no clock, no hidden randomness.

Do answers repeat?
    agreement         how often two answers to one canary differ
    first_divergence  where they part
    horizon           how long an answer stays reproducible
    near_ties         which positions can flip, before they do
Who answered?
    identity          what kind of name an endpoint gives itself, and when the names changed
    fingerprints      what some servers write into theirs
Are two windows, or two endpoints, alike?
    two_sample        distributions of outputs
    logprob_drift     log probabilities of the first token; bits, where the endpoint is ours
Did it change, whenever one looks?
    rates, tallies, ranks   evidence of one run: against bounds, by its rank among tied scores, by its rank among others
    shares            the watch over the share of differing answers, all of the above in one call per run
    sequential        evidence added up so that it stays valid at every look
    budget            'one false alarm a quarter' as thresholds
    dating            when a change began, once an alarm is up
    detectable        the smallest change that would have been found
How good is a figure?
    intervals         the interval of one figure
    repeats, paired   scored cases: one arm, and two arms over the same cases
    evals             planning, scopes and verdicts of an eval
"""
