"""The checks of the OpenAgent suites: text and case keys -> codes. Nothing here has an effect."""
