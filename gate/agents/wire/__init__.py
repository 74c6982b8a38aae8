"""The shapes in which agents are asked and answer, apart from how the bytes travel
(gate/agents/http_client).
"""
