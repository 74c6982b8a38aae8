"""Spans as an exporter of OpenTelemetry writes them in JSON."""


def any_value(value):
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [any_value(one) for one in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": attributes(value)}}
    return {"stringValue": value}


def attributes(found):
    return [{"key": key, "value": any_value(value)} for key, value in found.items()]


def span(id, found, *, parent="", start=1, ms=50, trace="t", **more):
    return {
        "traceId": trace,
        "spanId": id,
        "parentSpanId": parent,
        "startTimeUnixNano": str(start * 10**9),
        "endTimeUnixNano": str(start * 10**9 + int(ms * 1e6)),
        "attributes": attributes(found),
        **more,
    }


def export(*spans):
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


def says(*parts, **more):
    return [{"role": "assistant", "parts": list(parts), **more}]


TEXT = {"type": "text", "content": "x"}
ASKS = {"type": "tool_call", "id": "1", "name": "f", "arguments": {"a": 1}}
CHAT = {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "m",
    "gen_ai.usage.input_tokens": 5,
    "gen_ai.usage.output_tokens": 2,
}
TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f"}
RAN = {**TOOL, "gen_ai.tool.call.id": "1", "gen_ai.tool.call.result": '"r"'}
