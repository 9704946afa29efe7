"""Evaluates infix expressions whose tokens are separated by spaces."""


class Calculator:
    """A calculator with two stacks: one for values, one for operators."""

    def __init__(self):
        self.operators = {
            "+": lambda left, right: left + right,
            "-": lambda left, right: left - right,
            "*": lambda left, right: left * right,
            "/": lambda left, right: left / right,
        }
        self.precedence = {"+": 2, "-": 1, "*": 3, "/": 2}

    def evaluate(self, expression):
        """Returns the value of an expression, or None when there is none to evaluate."""
        tokens = expression.split()
        if not tokens:
            return None
        values = []
        pending = []
        for token in tokens:
            if token in self.operators:
                while pending and self.precedence[pending[-1]] >= self.precedence[token]:
                    self._apply(pending.pop(), values)
                pending.append(token)
            else:
                values.append(self._number(token))
        while pending:
            self._apply(pending.pop(), values)
        if len(values) != 1:
            raise ValueError("invalid expression: an operator is missing")
        return values[0]

    @staticmethod
    def _number(token):
        try:
            return float(token)
        except ValueError:
            raise ValueError(f"invalid token: {token}") from None

    def _apply(self, operator, values):
        if len(values) < 2:
            raise ValueError(f"too few operands for {operator}")
        right = values.pop()
        left = values.pop()
        values.append(self.operators[operator](left, right))
