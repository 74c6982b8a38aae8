"""The flow: set up, ask, grade, judge, deliver. Every effect is handed in here."""
