"""A grader file as a user writes one."""

GRADER = '''
from dataclasses import dataclass
from gate.records import MetricSpec, Score

@dataclass(frozen=True, slots=True, kw_only=True)
class Mine:
    """Any answer will do."""
    keys = {}
    needs = ()
    def metrics(self):
        return (MetricSpec(name="correctness.mine", column="correctness.mine"),)
    def grade(self, case, response):
        return Score(values={"correctness.mine": 1.0}, passed=True)
'''
