"""The checks of the OpenAgent suites: text and case keys -> failure codes, without side effects."""
