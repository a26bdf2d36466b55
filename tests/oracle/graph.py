"""The analysis that the Adams2019 plugin prints, as data (docs/specification/function-dag.md, section 14)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

OPERATIONS = [
    "Constant",
    "Cast",
    "Variable",
    "Param",
    "Add",
    "Sub",
    "Mod",
    "Mul",
    "Div",
    "Min",
    "Max",
    "EQ",
    "NE",
    "LT",
    "LE",
    "And",
    "Or",
    "Not",
    "Select",
    "ImageCall",
    "FuncCall",
    "SelfCall",
    "ExternCall",
    "Let",
]
SCALAR_TYPES = ("Bool", "UInt8", "UInt16", "UInt32", "UInt64", "Float", "Double")
ACCESS_CLASSES = ("Pointwise", "Transpose", "Broadcast", "Slice")

Bounds = tuple[str, str]
"""Two expressions in C syntax over symbols such as ``f.x.min``."""


@dataclass
class PrintedStage:
    """``counts`` holds the printed features: (type, operation) to a number, (type, access class) to four."""

    loops: list[tuple[str, Bounds]] = field(default_factory=list)
    counts: dict[tuple[str, str], list[int]] = field(default_factory=dict)


@dataclass
class PrintedNode:
    name: str
    required: list[Bounds] = field(default_factory=list)
    computed: list[Bounds] = field(default_factory=list)
    stages: list[PrintedStage] = field(default_factory=list)
    flags: dict[str, bool] = field(default_factory=dict)


@dataclass
class PrintedEdge:
    """``jacobians``: count and rows of each; an unknown entry is None, a known one (numerator, denominator)."""

    producer: str
    consumer: str
    footprint: list[Bounds] = field(default_factory=list)
    jacobians: list[tuple[int, list[list[tuple[int, int] | None]]]] = field(default_factory=list)


def parse_graph(log: str) -> tuple[list[PrintedNode], list[PrintedEdge]]:
    """Read the nodes and edges from the plugin's error stream (HL_DEBUG_AUTOSCHEDULE=2)."""
    graph = log[log.index("\nNode: ") + 1 : log.index("Loading weights")]
    nodes_text, *edge_texts = graph.split("Edge: ")
    nodes = [_parse_node(text) for text in nodes_text.split("Node: ")[1:]]
    return nodes, [_parse_edge(text) for text in edge_texts]


def _parse_node(text: str) -> PrintedNode:
    name, *lines = text.splitlines()
    node = PrintedNode(name)
    section: list[Bounds] = []
    scalar_type = ""
    for line in lines:
        words = line.split()
        if line.startswith("  Symbolic region required"):
            section = node.required
        elif line.startswith("  Region computed"):
            section = node.computed
        elif line.startswith("  Stage "):
            node.stages.append(PrintedStage())
        elif line.startswith("  pointwise:"):
            node.flags = {key.strip(): value == "1" for key, value in re.findall(r"([a-z ]+): ([01])", line)}
        elif line.startswith("    Featurization for type "):
            scalar_type = words[-1]
        elif line.startswith("      "):
            key, numbers = line.split(":")
            node.stages[-1].counts[scalar_type, key.strip()] = [int(number) for number in numbers.split()]
        elif line.startswith("    ") and not line.startswith("     "):
            if node.stages:
                variable, *bounds = _split_top_level(line, " ")
                node.stages[-1].loops.append((variable, (bounds[0], bounds[1])))
            else:
                low, high = _split_top_level(line, ",")
                section.append((low, high))
    return node


def _split_top_level(text: str, separator: str) -> list[str]:
    """Split where no parenthesis is open; around the operators of an expression, a blank is no separator."""
    parts, depth, start = [], 0, 0
    text = re.sub(r" ([-+*/%<>=&|!]+) ", r"\1", text.strip())
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0 and character == separator:
            parts.append(text[start:position].strip())
            start = position + 1
    return [*parts, text[start:].strip()]


def _parse_edge(text: str) -> PrintedEdge:
    title, *lines = text.splitlines()
    producer, consumer = title.split(" -> ")
    edge = PrintedEdge(producer, consumer)
    count = 1
    fresh = True
    for line in lines:
        if match := re.match(r"    (Min|Max) \d+: (.*)", line):
            if match[1] == "Min":
                edge.footprint.append((match[2], ""))
            else:
                edge.footprint[-1] = (edge.footprint[-1][0], match[2])
        elif match := re.match(r"  (\d+) x", line):
            count = int(match[1])
        elif match := re.match(r"    \[(.*)\]", line):
            if fresh:
                edge.jacobians.append((count, []))
            edge.jacobians[-1][1].append([_parse_entry(word) for word in match[1].split()])
            fresh = False
        elif not line.strip():
            count, fresh = 1, True
    return edge


def _parse_entry(word: str) -> tuple[int, int] | None:
    if word == "_":
        return None
    numerator, _, denominator = word.partition("/")
    return int(numerator), int(denominator or 1)


def evaluate(expression: str, symbols: dict[str, int]) -> int:
    """The value of a printed bounds expression of integers."""

    def value_of(match: re.Match[str]) -> str:
        return str(symbols[match[0]]) if match[0] in symbols else match[0]

    text = re.sub(r"[A-Za-z_][\w$]*(?:\.[\w$]+)+", value_of, expression).replace("/", "//")
    functions = {"min": min, "max": max, "select": lambda condition, a, b: a if condition else b}
    return int(eval(text, {"__builtins__": {}}, functions))
