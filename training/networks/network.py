"""The network of policies: an encoder of the problem, and three heads that share it.

The same network in C++ is `native/policy/`, which runs the same weights under the same names.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from halidegym.agents.learned.network_config import NetworkConfig
from halidegym.training.networks.batches import NUM_GROUPS, Decisions, Problems, States
from halidegym.training.networks.segments import segment_max, segment_mean

NUM_ALGORITHM_FEATURES, NUM_STAGE_FEATURES, NUM_EDGE_FEATURES = 280, 24, 8
NUM_CHILD_FEATURES = 43
#: The first one compares the child with a greedy schedule, for which a search would have to pay.
NUM_CHILD_FEATURES_READ = NUM_CHILD_FEATURES - 1
#: The last columns of a decision's descriptor.
NUM_DEMANDS = 11
#: Sizes that the algorithm features are reduced to, and of what a state tells without its stages.
ALGORITHM_WIDTH, NUM_STATE_FEATURES = 24, 3
#: Logarithms come with values of up to 60: these bring them near 1.
STAGE_SCALE, ROW_SCALE = 0.1, 0.2
MAX_LOG_COST = 20.0


def descriptor_size(loops: int) -> int:
    """Columns of a decision's descriptor."""
    return 11 + 3 * loops + 7 + NUM_DEMANDS


class Encoded(NamedTuple):
    """What stays the same for all states of the problems."""

    stages: Tensor
    """[S, width]."""
    pooled: Tensor
    """[P, 2 * width], mean and maximum of a problem's stages."""


class Round(nn.Module):
    """One exchange of messages between producers and consumers."""

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        sent = config.width + (NUM_EDGE_FEATURES if config.use_edge_features else 0)
        self.to_consumers = nn.Linear(sent, config.width)
        self.to_producers = nn.Linear(sent, config.width)
        self.update = nn.Linear(3 * config.width, config.width)
        self.norm = nn.LayerNorm(config.width)
        self._use_edge_features = config.use_edge_features

    def forward(self, h: Tensor, problems: Problems) -> Tensor:
        """The stages after the exchange."""
        producers, consumers = problems.edges
        from_producers = self._messages(self.to_consumers, h[producers], problems)
        from_consumers = self._messages(self.to_producers, h[consumers], problems)
        heard = [
            h,
            segment_mean(from_producers, consumers, len(h)),
            segment_mean(from_consumers, producers, len(h)),
        ]
        normalized: Tensor = self.norm(h + torch.relu(self.update(torch.cat(heard, 1))))
        return normalized

    def _messages(self, layer: nn.Linear, senders: Tensor, problems: Problems) -> Tensor:
        if self._use_edge_features:
            senders = torch.cat([senders, ROW_SCALE * problems.edge_features], 1)
        return torch.relu(layer(senders))


class DecisionHead(nn.Module):
    """One logit a decision, of its descriptor, the stage of its level, the context, and maybe the features of its child."""

    def __init__(self, config: NetworkConfig, *, reads_children: bool) -> None:
        super().__init__()
        columns = descriptor_size(config.loops) - (0 if config.use_demands else NUM_DEMANDS)
        self.descriptor = nn.Linear(columns, config.width)
        self.stage = nn.Linear(config.width, config.width, bias=False)
        self.context = nn.Linear(config.width, config.width, bias=False)
        self.child = nn.Linear(NUM_CHILD_FEATURES_READ, config.width, bias=False) if reads_children else None
        self.hidden = nn.Linear(config.width, config.width)
        self.logit = nn.Linear(config.width, 1)

    def forward(self, encoded: Encoded, context: Tensor, decisions: Decisions) -> Tensor:
        """[D]."""
        of_stages = self.stage(encoded.stages)
        of_stages = torch.cat([of_stages, of_stages.new_zeros(1, of_stages.shape[1])])  # -1 is the last one
        descriptors = decisions.descriptors[:, : self.descriptor.in_features]
        u = self.descriptor(ROW_SCALE * descriptors) + of_stages[decisions.stage]
        u = u + self.context(context)[decisions.state]
        if self.child is not None:
            if decisions.child_features is None:
                raise ValueError("The decisions have no child features; replay them with child_features=True")
            u = u + self.child(ROW_SCALE * decisions.child_features[:, 1:])
        logits: Tensor = self.logit(torch.relu(self.hidden(torch.relu(u))))
        return logits.squeeze(1)


class PolicyNetwork(nn.Module):
    """Encode the problems of a batch once, then ask for contexts, logits and values of states."""

    def __init__(self, config: NetworkConfig | None = None) -> None:
        super().__init__()
        self.config = config = config or NetworkConfig()
        width = config.width
        of_stage = ALGORITHM_WIDTH + (NUM_STAGE_FEATURES if config.use_stage_features else 0)
        self.algorithm = nn.Linear(NUM_ALGORITHM_FEATURES, ALGORITHM_WIDTH, bias=False)
        self.stage_input = nn.Linear(of_stage, width)
        self.stage_hidden = nn.Linear(width, width)
        self.rounds = nn.ModuleList(Round(config) for _ in range(config.rounds))
        self.context_layer = nn.Linear((2 + NUM_GROUPS) * width + NUM_STATE_FEATURES, width)
        self.blind = DecisionHead(config, reads_children=False)
        self.child_reading = DecisionHead(config, reads_children=True)
        self.value_hidden = nn.Linear(width + 2, width)
        self.value_output = nn.Linear(width, 1)

    def encode(self, problems: Problems) -> Encoded:
        """What all states of the problems share."""
        x = self.algorithm(problems.algorithm_features)
        if self.config.use_stage_features:
            x = torch.cat([x, STAGE_SCALE * problems.stage_features], 1)
        h = torch.relu(self.stage_hidden(torch.relu(self.stage_input(x))))
        for exchange in self.rounds:
            h = exchange(h, problems)
        of = problems.stage_problem, problems.count
        return Encoded(h, torch.cat([segment_mean(h, *of), segment_max(h, *of)], 1))

    def context(self, encoded: Encoded, states: States) -> Tensor:
        """[N, width]."""
        groups = segment_mean(encoded.stages[states.member_stage], states.member_slot, NUM_GROUPS * states.count)
        features = [nn.functional.one_hot(states.phase, 2), states.decided.unsqueeze(1)]
        z = torch.cat([encoded.pooled[states.problem], groups.reshape(states.count, -1), *features], 1)
        return torch.relu(self.context_layer(z))

    def blind_logits(self, encoded: Encoded, context: Tensor, decisions: Decisions) -> Tensor:
        """[D], of the descriptors."""
        logits: Tensor = self.blind(encoded, context, decisions)
        return logits

    def child_logits(self, encoded: Encoded, context: Tensor, decisions: Decisions) -> Tensor:
        """[D], of the descriptors and of the features of the children."""
        logits: Tensor = self.child_reading(encoded, context, decisions)
        return logits

    def value(self, context: Tensor, states: States, relative_cost: Tensor) -> Tensor:
        """[N], log(best cost that can be reached / cost of the reference), given each state's cost relative to it."""
        log_cost = torch.log(relative_cost.clamp(min=0)).clamp(-MAX_LOG_COST, MAX_LOG_COST)
        known = torch.stack([ROW_SCALE * log_cost, states.decided], 1)
        values: Tensor = self.value_output(torch.relu(self.value_hidden(torch.cat([context, known], 1))))
        return values.squeeze(1)
