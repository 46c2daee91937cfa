"""What repeats of an eval say. Scores in [0, 1]; the case, not the answer, is the unit of every general claim.

Built on `drift.measure.repeats` (one arm) and `drift.measure.paired` (two arms).

cases             answers of one arm by case
arm               one arm's figure: the interval, the error, what a naive error would hide
scopes            the difference of two arms as an answer to two questions
verdict           better, worse, equivalent within a margin, or inconclusive
planning          what it takes to see a smaller difference, and how to spend a budget
noise             what comes from the cases, what from sampling, what from a judge
exchangeability   whether rounds are alike, so that they may be averaged
anytime           stopping early without peeking
several           many comparisons at once
"""
