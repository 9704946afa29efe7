"""Shows an expression and its result."""

import json


def render(expression, result):
    """Returns both as JSON; a whole number is shown without its decimals."""
    if isinstance(result, float) and result.is_integer():
        result = int(result)
    return json.dumps({"expression": expression, "result": result})
