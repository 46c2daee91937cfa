"""What repeats of an eval say. Scores in [0, 1]; the case, not the answer, is the unit of every general claim.

cases             answers of one arm by case: means, spreads, which cases flip
suite             one arm's figure with its interval
pass_at_k         pass@k and pass^k from n answers
paired            the difference of two arms on the same cases, in two scopes
resampling        the same difference judged by permutations, which assume less
verdict           better, worse, equivalent within a margin, or inconclusive
power             the smallest difference that would be seen, and what it takes to see a smaller one
noise             what comes from the cases, what from sampling, what from a judge
exchangeability   whether repeats are alike, so that they may be averaged
anytime           stopping early without peeking
several           many comparisons at once
"""
