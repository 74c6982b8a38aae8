"""HTTP/1.1 as an evaluation needs it: one kept-alive connection a thread, one deadline a request.

`Session.request` never waits, repeats or follows anything: it answers, or says whose fault it is
(AgentFailure, InfraFailure). Why this is not requests, urllib3 or http.client:
docs/decisions/0002-http-client.md.
"""
