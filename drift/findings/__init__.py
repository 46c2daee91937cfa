"""What follows from the answers: rules from evidence to findings, and the hands that apply them.

kinds      what can be found, how grave it is, what it voids
names      what an endpoint calls itself, as one value
evidence   what one run says
state      what is remembered of a series between runs
judge      the rules: (state, evidence) -> (state, findings), pure
gather     evidence from a run's samples
apply      the rules applied inside the record's transaction
absence    what is found because nothing came
requests   what is found because we ask otherwise, or another thing is accepted
explain    what a change did to the answers, for people
words      findings as sentences
budgets    each series' share of the false-alarm budget
"""
