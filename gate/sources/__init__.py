"""What other tools wrote, read as it lies there: files, archives and tables that nobody trusts, and
their rows as trials. A package below has what only one of the tools needs.
"""
