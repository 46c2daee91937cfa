"""Is an endpoint fit for a job? From measurements, with the figure that decided, its threshold and the price.

`facts` gathers what is known of an endpoint, `jobs` judges, `price` says what getting there costs; `bundle` is the form
of signed evidence and `evidence` fills it.
"""
