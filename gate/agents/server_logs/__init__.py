"""What a server's own logs show of one request: tool calls that ran, and requests that ended.

    book = LogBook(options, env=world.env, root=world.root)
    with book.before() as mark:
        ...  # the request
        logs = book.after(mark, started_ms=..., ended_ms=..., alone=True)

Nothing in a log, and no state of a file, makes `before` or `after` raise or block.
"""
