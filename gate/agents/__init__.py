"""Whatever is asked, and how: HTTP, wire formats, traces, logs, retrievers, judges."""
