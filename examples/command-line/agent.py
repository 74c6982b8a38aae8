"""A command-line agent: a case as JSON on standard input, an answer as JSON on standard output.

Any language will do. This one computes sums of two numbers, by a rule in place of a model.
"""

import json
import re
import sys

case = json.load(sys.stdin)
found = re.search(r"(\d+) (plus|minus|times) (\d+)", case["input"])
if not found:
    print(json.dumps({"answer": "I only compute sums of two numbers.", "steps": []}))
    sys.exit()
left, sign, right = int(found[1]), found[2], int(found[3])
result = {"plus": left + right, "minus": left - right, "times": left * right}[sign]
step = {"name": "compute", "arguments": {"sum": found[0]}, "result": result}
print(json.dumps({"answer": f"{found[0]} is {result}.", "steps": [step]}))
