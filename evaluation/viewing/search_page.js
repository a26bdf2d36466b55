"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const { paths, nodes } = data;
const chosen = { path: 0, node: paths[0].nodes[0] };

const shown = (cost) => Number(cost.toPrecision(5)).toString();

function element(name, attributes = {}, text = "") {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}

function drawn(name, attributes, text = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}

// Where each node stands: by the number of choices before it, and in the line of its first end, so that no lines cross.
function places() {
  const children = new Map();
  nodes.forEach(({ parent }, node) => children.set(parent, [...(children.get(parent) ?? []), node]));
  const longest = Math.max(...paths.map((path) => path.nodes.length));
  const dx = Math.min(34, Math.max(7, 1150 / longest));
  const place = new Map();
  let lines = 0;
  const visit = (node, depth) => {
    place.set(node, { x: 14 + depth * dx, y: 14 + 17 * lines });
    const inside = children.get(node) ?? [];
    if (inside.length === 0) lines += 1;
    inside.forEach((child) => visit(child, depth + 1));
  };
  children.get(-1).forEach((node) => visit(node, 0));
  return { place, width: 14 + longest * dx + 260, height: 14 + 17 * lines };
}

const { place, width, height } = places();

function line(path, kind) {
  const points = path.nodes.map((node) => place.get(node));
  let d = "";
  points.forEach((p, k) => {
    if (k === 0) d += `M${p.x},${p.y}`;
    else if (p.y === points[k - 1].y) d += `L${p.x},${p.y}`;
    else d += `C${p.x - 4},${points[k - 1].y} ${points[k - 1].x + 4},${p.y} ${p.x},${p.y}`;
  });
  return drawn("path", { d, class: kind });
}

function tint(node) {
  const { choice } = nodes[node];
  if (!choice) return "#ffffff";
  const share = Math.log(choice.rank) / Math.log(Math.max(choice.count, 2));
  return `hsl(${130 - 115 * share} 55% ${62 - 22 * share}%)`;
}

// By the share of the known schedules that go through it.
function size(node) {
  const [count] = nodes[node].known;
  return 3 + 3 * Math.sqrt(count / Math.max(...data.nodes.map(({ known }) => known[0])));
}

function told([count, best, mean]) {
  if (count === 1) return `one known schedule below, of cost ${shown(best)}`;
  return `${count} known schedules below, at best ${shown(best)}, ${shown(mean)} in the mean`;
}

function drawTree() {
  const tree = document.getElementById("tree");
  tree.replaceChildren();
  tree.setAttribute("width", width);
  tree.setAttribute("height", height);
  const kinds = ["", "pass", "best"];
  const kind = (k) => (k === 0 ? 2 : paths[k].compared === null ? 0 : 1);
  for (const level of [0, 1, 2]) paths.forEach((path, k) => kind(k) === level && tree.append(line(path, kinds[level])));
  tree.append(line(paths[chosen.path], "chosen"));
  for (const [node, { x, y }] of place) {
    const dot = drawn("circle", { cx: x, cy: y, r: size(node), fill: tint(node), "data-node": node });
    if (node === chosen.node) dot.setAttribute("class", "chosen");
    dot.append(drawn("title", {}, `${nodes[node].words}\ncost ${shown(nodes[node].cost)}\n${told(nodes[node].known)}`));
    dot.addEventListener("click", () => choose(pathThrough(node), node));
    tree.append(dot);
  }
  const names = new Map();
  paths.forEach((path, k) => {
    const end = path.nodes[path.nodes.length - 1];
    names.set(end, [...(names.get(end) ?? []), k]);
  });
  for (const [end, ways] of names) {
    const { x, y } = place.get(end);
    const words = `${together(ways.map((k) => paths[k].name))}: ${shown(paths[ways[0]].cost)}`;
    const label = drawn("text", { x: x + 10, y: y + 4 }, words);
    if (ways.includes(chosen.path)) label.setAttribute("class", "chosen");
    label.addEventListener("click", () => choose(ways[0], end));
    tree.append(label);
  }
}

// "move 2, move 3, move 4" are moves 2 to 4.
function together(names) {
  const runs = [];
  for (const name of names) {
    const [, kind, number] = name.match(/^(.*?) ?(\d*)$/);
    const last = runs[runs.length - 1];
    if (last && number && last.kind === kind && last.end + 1 === Number(number)) last.end += 1;
    else runs.push({ kind, begin: number, end: Number(number) });
  }
  const told = ({ kind, begin, end }) => (begin === "" || Number(begin) === end ? `${kind} ${begin}` : `${kind}s ${begin} to ${end}`);
  return runs.map((run) => told(run).replace("passs", "passes").trim()).join(", ");
}

function pathThrough(node) {
  return paths[chosen.path].nodes.includes(node) ? chosen.path : paths.findIndex((path) => path.nodes.includes(node));
}

function choose(path, node) {
  chosen.path = path;
  chosen.node = node;
  show();
}

function showSteps() {
  const body = document.querySelector("#steps tbody");
  body.replaceChildren();
  for (const number of paths[chosen.path].nodes) {
    const node = nodes[number];
    const row = element("tr", number === chosen.node ? { class: "chosen" } : {});
    row.append(
      element("td", { class: "number" }, node.step),
      element("td", {}, node.words),
      element("td", { class: "number" }, shown(node.cost)),
      element("td", { class: "number" }, node.choice ? `${node.choice.rank} of ${node.choice.count}` : ""),
    );
    row.addEventListener("click", () => choose(chosen.path, number));
    body.append(row);
  }
  const select = document.getElementById("paths");
  select.replaceChildren();
  paths.forEach((path, k) => {
    const compared = path.compared === null || path.compared === path.cost ? "" : `, compared as ${shown(path.compared)}`;
    const option = element("option", { value: k }, `${path.name}: ${shown(path.cost)}${compared}`);
    option.selected = k === chosen.path;
    select.append(option);
  });
}

function showStep() {
  const node = nodes[chosen.node];
  const { choice } = node;
  document.getElementById("step-title").textContent = `Decision ${node.step}: ${node.words}`;
  document.getElementById("known").textContent = `Through it: ${told(node.known)}. Costs of the alternatives are those of the partial schedules.`;
  const body = document.querySelector("#siblings tbody");
  body.replaceChildren();
  document.getElementById("siblings").hidden = !choice;
  const strip = document.getElementById("strip");
  strip.replaceChildren();
  const more = document.getElementById("more");
  if (choice) {
    const costs = choice.siblings.map(([, cost]) => cost);
    for (const [index, cost, words, known] of choice.siblings) {
      const row = costRow(index === node.index ? "taken" : "", index, cost, words, costs);
      row.append(element("td", { class: "number" }, known ? known[0] : ""), element("td", { class: "number" }, known ? shown(known[1]) : ""));
      body.append(row);
    }
    const left = choice.count - choice.siblings.length;
    more.textContent = left > 0 ? `and ${left} more, up to ${shown(choice.costs[choice.costs.length - 1])}` : "";
    strip.append(costStrip({ costs: choice.costs, count: choice.count }, node.cost));
  } else {
    more.textContent = "The other decisions are told for the best schedule and the results of passes or moves.";
  }
  document.getElementById("nest").innerHTML = node.nest ?? "";
}

// A decision among others, with a bar that is as long as its cost is above the least of theirs.
function costRow(kind, index, cost, words, costs) {
  const [least, most] = [Math.min(...costs), Math.max(...costs)];
  const row = element("tr", { class: kind });
  const bar = element("td", { class: "bar" });
  const length = most > least ? (cost - least) / (most - least) : 0;
  bar.append(element("div", { style: `width:${2 + 98 * length}%`, title: `${shown(cost / least)} times the cheapest` }));
  row.append(element("td", { class: "number" }, index), element("td", { class: "number" }, shown(cost)), bar);
  row.append(element("td", {}, words));
  return row;
}

// Costs of so many alternatives on a logarithmic scale, which of them were kept, and where the chosen one lies.
function costStrip({ costs, count }, cost, kept = []) {
  const [low, high] = [costs[0], costs[costs.length - 1]];
  const at = (value) => 10 + (high > low ? (600 * Math.log(value / low)) / Math.log(high / low) : 0);
  const strip = drawn("svg", { width: 640, height: 44 });
  for (const value of costs) strip.append(drawn("rect", { x: at(value), y: 6, width: 1, height: 14, fill: "#8c959f" }));
  for (const value of kept) strip.append(drawn("rect", { x: at(value), y: 6, width: 1.5, height: 14, fill: "#2f6fde" }));
  strip.append(drawn("rect", { x: at(cost) - 1, y: 1, width: 3, height: 24, fill: "#e8590c" }));
  const label = { y: 38, "font-size": 11, fill: "#656d76" };
  strip.append(drawn("text", { x: 10, ...label }, `${shown(low)}, the cheapest of ${count.toLocaleString("en")}`));
  strip.append(drawn("text", { x: 610, "text-anchor": "end", ...label }, `${shown(high)}`));
  return strip;
}

// Steps, as the best cost stands until there is a better one.
function drawProgress() {
  const { history } = data;
  const figure = document.getElementById("progress");
  const last = Math.max(data.evaluations ?? 0, ...history.map(([evaluations]) => evaluations), 2);
  if (history.length === 0 || last <= history[0][0]) {
    figure.hidden = true; // a search whose first schedule is its end has no curve
    return;
  }
  const costs = history.map(([, , cost]) => cost);
  const [low, high] = [Math.min(...costs), Math.max(...costs)];
  const first = Math.max(1, history[0][0]);
  const x = (evaluations) => 90 + (640 * Math.log(Math.max(evaluations, first) / first)) / Math.log(last / first);
  const y = (cost) => 12 + (high > low ? (100 * (high - cost)) / (high - low) : 50);
  let d = `M${x(history[0][0])},${y(costs[0])}`;
  history.slice(1).forEach(([evaluations, , cost]) => (d += `H${x(evaluations)}V${y(cost)}`));
  d += `H${x(last)}`;
  const plot = drawn("svg", { width: 760, height: 140 });
  const label = { "font-size": 11, fill: "#656d76" };
  plot.append(
    drawn("path", { d, fill: "none", stroke: "#2f6fde", "stroke-width": 2 }),
    drawn("text", { x: 84, y: y(high) + 4, "text-anchor": "end", ...label }, shown(high)),
    drawn("text", { x: 84, y: y(low) + 4, "text-anchor": "end", ...label }, high > low ? shown(low) : ""),
    drawn("text", { x: 90, y: 134, ...label }, first.toLocaleString("en")),
    drawn("text", { x: 730, y: 134, "text-anchor": "end", ...label }, `${last.toLocaleString("en")} evaluations`),
  );
  figure.prepend(plot);
}

function show() {
  drawTree();
  showSteps();
  showStep();
}

document.getElementById("paths").addEventListener("change", (event) => {
  const path = Number(event.target.value);
  choose(path, paths[path].nodes[paths[path].nodes.length - 1]);
});
document.addEventListener("keydown", (event) => {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!step || event.target.tagName === "SELECT" || event.target.id === "levels") return;
  const way = paths[chosen.path].nodes;
  const next = way[way.indexOf(chosen.node) + step];
  if (next !== undefined) choose(chosen.path, next);
});
if (data.schedules > new Set(paths.map((path) => path.nodes[path.nodes.length - 1])).size)
  document.getElementById("drawn").textContent =
    `Of ${data.schedules} known schedules, the cheapest are drawn; sizes and tables count all.`;
drawProgress();
show();
