"""Evals with error bars: cases and graders in, answers and scores stored, figures and verdicts out.

case        one question with its targets; how a prompt is made of it
graders/    one module per way to score an answer
cases/      reading cases that others wrote
results/    reading answers and scores that others collected
report      what one arm's answers say
comparison  what two arms' answers say
branches    the answers to one case as a tree
plan        what a run will cost, and what it would be able to see
gate        the verdict as an exit code
pictures    intervals as small drawings
terminal, standalone   a report as text, and as one HTML file
"""
