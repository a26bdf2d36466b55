// What each pass of a beam search kept: columns of partial schedules.
const { beam } = data;
const picked = { pass: 0, level: 0, place: 0 };
const keptAt = (level, place) => {
  const [parent, family, action, cost, words] = beam.passes[picked.pass].levels[level].kept[place];
  return { parent, family, action, cost, words: beam.words[words] };
};

function pick(level, place) {
  const { levels } = beam.passes[picked.pass];
  picked.level = Math.min(Math.max(level, 0), levels.length - 1);
  picked.place = Math.min(Math.max(place, 0), levels[picked.level].kept.length - 1);
  showBeam();
}

// Places from the chosen dot's column back to the first one.
function lineOf(level, place) {
  const line = [];
  for (let at = place; level >= 0 && at >= 0; level -= 1) {
    line.unshift(at);
    at = keptAt(level, at).parent;
  }
  return line;
}

function drawLevels() {
  const { levels } = beam.passes[picked.pass];
  const dx = Math.min(100, Math.max(18, 1300 / levels.length));
  const dy = 11;
  const rows = Math.max(...levels.map(({ kept }) => kept.length));
  const x = (level) => 16 + level * dx;
  const y = (place) => 12 + place * dy;
  const svg = document.getElementById("levels");
  svg.replaceChildren();
  const edge = (level, place, kind) => {
    const { parent } = keptAt(level, place);
    if (level === 0 || parent < 0) return;
    const [x0, y0, x1, y1] = [x(level - 1), y(parent), x(level), y(place)];
    svg.append(drawn("path", { d: `M${x0},${y0}C${x0 + dx / 2},${y0} ${x1 - dx / 2},${y1} ${x1},${y1}`, class: kind }));
  };
  levels.forEach(({ kept }, level) => kept.forEach((_, place) => edge(level, place, "")));
  levels.forEach(({ best }, level) => best >= 0 && edge(level, best, "best"));
  const line = lineOf(picked.level, picked.place);
  line.forEach((place, level) => edge(level, place, "chosen"));
  levels.forEach(({ kept, rated, about, best }, level) => {
    const costs = kept.map(([, , , cost]) => cost);
    const [least, most] = [Math.min(...costs), Math.max(...costs)];
    kept.forEach((_, place) => {
      const { cost, words } = keptAt(level, place);
      const share = most > least ? Math.log(cost / least) / Math.log(most / least) : 0;
      const dot = drawn("circle", { cx: x(level), cy: y(place), r: 3.6, fill: `hsl(${130 - 115 * share} 55% ${62 - 22 * share}%)` });
      const kinds = [place === best && "best", level === picked.level && place === picked.place && "chosen"].filter(Boolean);
      if (kinds.length > 0) dot.setAttribute("class", kinds.join(" "));
      dot.append(drawn("title", {}, `${words}\ncost ${shown(cost)}`));
      dot.addEventListener("click", () => pick(level, place));
      svg.append(dot);
    });
    const under = `translate(${x(level)},${y(rows)}) rotate(55)`;
    svg.append(drawn("text", { transform: under, "data-level": level }, `${about}, ${rated.toLocaleString("en")}`));
  });
  const longest = Math.max(...[...svg.querySelectorAll("text")].map((text) => text.getComputedTextLength()));
  const turned = (55 * Math.PI) / 180;
  svg.setAttribute("width", x(levels.length - 1) + 16 + longest * Math.cos(turned));
  svg.setAttribute("height", y(rows) + 16 + longest * Math.sin(turned));
}

function showKept() {
  const { levels } = beam.passes[picked.pass];
  const level = levels[picked.level];
  const state = keptAt(picked.level, picked.place);
  document.getElementById("kept-title").textContent = `Decision ${level.step}: ${state.words}`;
  document.getElementById("kept-words").textContent =
    `Cost ${shown(state.cost)}; number ${picked.place + 1} of ${level.kept.length} that were kept, ` +
    `of ${level.rated.toLocaleString("en")} that were rated. All of these by cost, those that were kept in blue:`;
  const kept = level.kept.map(([, , , cost]) => cost);
  document.getElementById("level-strip").replaceChildren(costStrip({ costs: level.costs, count: level.rated }, state.cost, kept));

  const [count, left] = level.families[state.family];
  const family = level.kept
    .map((_, place) => ({ ...keptAt(picked.level, place), place }))
    .filter((sibling) => sibling.family === state.family)
    .concat(left.map(([action, cost, words, cameUp]) => ({ action, cost, words: beam.words[words], cameUp })))
    .sort((a, b) => a.cost - b.cost);
  const costs = family.map(({ cost }) => cost);
  const body = document.querySelector("#family tbody");
  body.replaceChildren();
  for (const { action, cost, words, place, cameUp } of family) {
    const kind = place === picked.place ? "kept taken" : place === undefined ? "left" : "kept";
    const row = costRow(kind, action, cost, words, costs);
    row.append(element("td", {}, place !== undefined ? `kept, ${place + 1}` : cameUp ? "passed over" : "left"));
    if (place !== undefined) row.addEventListener("click", () => pick(picked.level, place));
    body.append(row);
  }
  const more = count - family.length;
  document.getElementById("family-more").textContent =
    `The siblings: what the same partial schedule was expanded to` + (more > 0 ? `, and ${more.toLocaleString("en")} more that were left.` : ".");
}

function showLine() {
  const { levels } = beam.passes[picked.pass];
  const body = document.querySelector("#line tbody");
  body.replaceChildren();
  lineOf(picked.level, picked.place).forEach((place, level) => {
    const { cost, words } = keptAt(level, place);
    const row = element("tr", level === picked.level ? { class: "chosen" } : {});
    row.append(element("td", { class: "number" }, levels[level].step), element("td", {}, words));
    row.append(element("td", { class: "number" }, shown(cost)), element("td", { class: "number" }, `${place + 1} of ${levels[level].kept.length}`));
    row.addEventListener("click", () => pick(level, place));
    body.append(row);
  });
}

function showBeam() {
  drawLevels();
  showKept();
  showLine();
}

// A pass opens with its result.
function pickPass(number) {
  picked.pass = number;
  document.getElementById("passes").value = number;
  const { levels } = beam.passes[number];
  const last = levels.length - 1;
  pick(last, Math.max(0, levels[last].best));
}

if (beam.passes.length > 0) {
  const select = document.getElementById("passes");
  beam.passes.forEach(({ cost, compared }, number) => {
    const ended = cost === null ? "cut off" : shown(cost) + (compared === cost ? "" : `, compared as ${shown(compared)}`);
    select.append(element("option", { value: number }, `pass ${number + 1}: ${ended}`));
  });
  select.addEventListener("change", () => pickPass(Number(select.value)));
  document.getElementById("levels").addEventListener("keydown", (event) => {
    const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!move) return;
    event.preventDefault();
    pick(picked.level + move[0], picked.place + move[1]);
  });
  document.getElementById("beam").hidden = false;
  const costs = beam.passes.map(({ cost }) => cost ?? Infinity);
  pickPass(costs.indexOf(Math.min(...costs)));
}
