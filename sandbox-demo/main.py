"""A calculator for the command line."""

import sys

from pkg.calculator import Calculator
from pkg.render import render


def main(arguments):
    if not arguments:
        print("Calculator")
        print('Usage: python main.py "<expression>"')
        print('Example: python main.py "3 + 5"')
        return 0
    expression = " ".join(arguments)
    try:
        result = Calculator().evaluate(expression)
    except (ValueError, ZeroDivisionError) as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    if result is None:
        print("Error: the expression is empty", file=sys.stderr)
        return 1
    print(render(expression, result))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
