"""The mathematics of the gauge: arrays in, frozen dataclasses out. No Django, no clock, no hidden randomness.

agreement      how far answers to one canary disagree
horizon        how long an answer stays reproducible
near_ties      which positions can flip, before they do
identity       what kind of name an endpoint gives itself, and when that name changed
logprob_drift  did the first token's log probabilities move
two_sample     do two windows, or two endpoints, answer alike
sequential     evidence for a change, valid at every look
budget         'one false alarm a quarter' as thresholds
dating         when a change began, once an alarm is up
intervals      the interval of one figure
paired         the difference of two arms, and the smallest one that would have been found
"""
