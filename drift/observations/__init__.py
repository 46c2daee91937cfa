"""What production saw of an endpoint: counted by hour and identity as it comes in, never part of agreement figures.

observation  one answer as production tells of it
record       a batch into buckets, identities and findings, in one transaction
otlp         OpenTelemetry traces (JSON and protobuf) -> observations
protobuf     the few messages of OTLP that are needed, read from the wire
"""
