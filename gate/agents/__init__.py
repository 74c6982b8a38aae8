"""Whatever is asked, and how: connections, wire formats, traces, server logs, judge models, the
sample agent.
"""
