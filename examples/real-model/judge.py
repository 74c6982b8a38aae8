"""The model as a judge of its own answers. It cannot write the JSON that a judge is asked for, so
it says yes or no, and this function writes the rest.
"""

import json
import os
import re
import urllib.request

URL = os.environ.get("MODEL", "http://127.0.0.1:8321") + "/v1/chat/completions"
ASKED = "Does this sentence mention {expected_answer}?\n{answer}\nReply yes or no."
YES = re.compile(r"\byes\b|\bdoes mention\b", re.IGNORECASE)


def judge(case: dict) -> dict:
    parts = re.findall(r"<<< (\w+) (\w+)\n(.*?)\n>>> \1 \2$", case["material"], re.S | re.M)
    asked = ASKED.format(**{label: text for label, _, text in parts})
    body = {
        "messages": [{"role": "user", "content": asked}],
        "temperature": 0,
        "max_tokens": 5,
    }
    request = urllib.request.Request(  # noqa: S310 - http, to this machine
        URL, json.dumps(body).encode(), {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=120) as reply:  # noqa: S310
        said = json.load(reply)["choices"][0]["message"]["content"]
    return {
        "right": {"reason": said, "score": int(bool(YES.search(said)))},
        "addressed_judge": False,
        "canary": case["instructions"].split()[-1],
    }
