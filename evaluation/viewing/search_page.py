"""A search as one page for a browser, which needs no server and loads nothing."""

from __future__ import annotations

import html
import importlib.resources
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from halidegym.agents.plan import Plan
from halidegym.envs.views import draw_nest, outline, to_svg
from halidegym.evaluation.viewing.beam_data import beam_data
from halidegym.evaluation.viewing.beam_record import Pass, beam_passes
from halidegym.evaluation.viewing.moves_data import moves_data
from halidegym.evaluation.viewing.page_numbers import rounded, spread
from halidegym.evaluation.viewing.search_tree import Choice, Known, Node, SearchTree, search_tree
from halidegym.evaluation.viewing.tree_record import Move, tree_moves
from halidegym.native._core import Space

_SCRIPTS = ("search_page.js", "beam.js", "moves.js")

# Of a picture on the way; the last one of a path shows all.
_ROWS_ON_THE_WAY = 40


def search_page(plan: Plan, space: Space) -> str:
    """The search of a plan as HTML.

    Args:
        plan: with decisions, so of no reference autoscheduler.
        space: the search space of the plan, with the weights of its cost model.
    """
    passes, moves = beam_passes(plan, space), tree_moves(plan, space)
    tree, schedule = search_tree(plan, space, moves), plan.schedule_of(plan.candidates[0])
    folder = importlib.resources.files(__package__)
    page = (folder / "search_page.html").read_text(encoding="utf-8")
    parts = {
        "@title@": html.escape(f"{plan.schedule.problem.name}: a search by {plan.agent.partition('(')[0]}"),
        "@facts@": "".join(_fact(name, text) for name, text in _facts(plan).items()),
        "@nest@": _nest(tree.nodes[tree.paths[0].nodes[-1]], len(tree.nodes), 120),
        "@cpp@": html.escape(schedule.cpp().strip()),
        "@python@": html.escape(schedule.python().strip()),
        "@style@": (folder / "search_page.css").read_text(encoding="utf-8"),
        "@script@": "".join((folder / name).read_text(encoding="utf-8") for name in _SCRIPTS),
        "@data@": _in_script(_data(plan, tree, passes, moves)),
    }
    return re.sub("|".join(parts), lambda mark: parts[mark.group()], page)


def _in_script(data: Mapping[str, Any]) -> str:
    """JSON for a script element.

    Such an element is ended by "</script", and "<!--<script" keeps that from ending it; so no text has a "<".
    """
    return json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _facts(plan: Plan) -> Mapping[str, str]:
    recorded = plan.fingerprint
    ends = {"finished": "by itself", "budget": "by its budget", "interrupt": "by an interrupt"}
    facts = {
        "Agent": plan.agent,
        "Cost": "none" if plan.cost is None else f"{plan.cost:.6g}",
        "Evaluations": "not counted" if plan.evaluations is None else f"{plan.evaluations:,}",
        "Expansions": "not counted" if plan.expansions is None else f"{plan.expansions:,}",
        "Seconds": f"{plan.seconds:.3g}",
        "Ended": ends[plan.ended_by],
        "Budget": "not on record" if plan.budget is None else plan.budget.words,
        "Seed": str(plan.seed),
        "Cores": str(recorded.parallelism),
        "Target": recorded.target,
    }
    if plan.run_time is not None:
        facts["Measured"] = f"{1000 * plan.run_time:.4g} ms, the best of {plan.measurements} schedules"
    return facts


def _fact(name: str, text: str) -> str:
    return f"<div><dt>{html.escape(name)}</dt><dd>{html.escape(text)}</dd></div>"


def _data(plan: Plan, tree: SearchTree, passes: Sequence[Pass], moves: Sequence[Move]) -> Mapping[str, Any]:
    ends = {path.nodes[-1] for path in tree.paths}
    drawn = {end for end in ends if tree.nodes[end].choice} | set(tree.paths[0].nodes)
    return {
        "history": [[entry.evaluations, entry.seconds, rounded(entry.cost)] for entry in plan.history],
        "evaluations": plan.evaluations,
        "beam": beam_data(passes, plan.pass_costs),
        "moves": moves_data(moves, tree),
        "schedules": tree.known,
        "paths": [
            {
                "name": path.name,
                "cost": rounded(path.cost),
                "compared": None if path.compared is None else rounded(path.compared),
                "nodes": path.nodes,
            }
            for path in tree.paths
        ],
        "nodes": [
            {
                "parent": node.parent,
                "step": node.step,
                "index": node.index,
                "words": node.words,
                "cost": rounded(node.cost),
                "known": _known(node.known),
                "choice": None if node.choice is None else _choice(node.choice),
                "nest": _nest(node, number, _ROWS_ON_THE_WAY) if number in drawn else None,
            }
            for number, node in enumerate(tree.nodes)
        ],
    }


def _choice(choice: Choice) -> Mapping[str, Any]:
    return {
        "rank": choice.rank,
        "count": len(choice.costs),
        "costs": spread(choice.costs),
        "siblings": [
            [sibling.index, rounded(sibling.cost), sibling.words, _known(sibling.known)] for sibling in choice.siblings
        ],
    }


def _known(known: Known | None) -> Sequence[float] | None:
    return None if known is None else [known.count, rounded(known.best), rounded(known.mean)]


def _nest(node: Node, number: int, rows: int) -> str:
    title = f"after decision {node.step}: cost {node.cost:.6g}"
    return to_svg(draw_nest(outline(node.state), title, max_rows=rows), f"nest{number}")
