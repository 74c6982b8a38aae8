"""HTTP/1.1 as an evaluation needs it: one kept-alive connection a thread, one deadline a request.

`Session.request` never waits, repeats or follows anything: it answers, or says whose fault it is
(AgentFailure, InfraFailure). Why this is not requests, urllib3 or http.client:
docs/decisions/0002-http-client.md.
"""

from gate.http.reply import Reply
from gate.http.route import shown_address
from gate.http.session import Session

__all__ = ["Reply", "Session", "shown_address"]
