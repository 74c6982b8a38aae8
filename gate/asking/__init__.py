"""Asking the judge and the verifier: threads, deadlines, tries, money and a cache, so that graders
stay pure (gate/plugins.py, ModelGrader).
"""

from gate.asking.conversation import Patience
from gate.asking.panel import Panel, panel_of, without_open_caches

__all__ = ["Panel", "Patience", "panel_of", "without_open_caches"]
