"""The first examination of an endpoint: how far it repeats, quiet and under load, and what to set.

`plan` says what is asked, `taken` holds what was answered, `report` turns it into figures without a request, `words`
and `html` say them. `store` and `life` keep a check-up in the database; `recorded` reads answers made elsewhere.
"""
