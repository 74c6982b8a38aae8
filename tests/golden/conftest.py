"""`pytest tests/golden --update-golden` writes what is rendered now; read the diff before it is
committed.
"""


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="write the golden files anew")
