"""`make up`: everything on one machine, started in order, watched, and stopped together.

Data lives under `.data/`. Everything listens on 127.0.0.1 or a unix socket in there.
"""
