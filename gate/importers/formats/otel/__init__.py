"""OpenTelemetry traces in files: spans in any order, gathered by trace in bounded memory."""
