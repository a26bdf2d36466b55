// What decided each move of the common root of a tree search, and what else the trees brought.
const { moves } = data;

function showMove(number) {
  const list = document.querySelectorAll("#move-list tbody tr");
  list.forEach((row, k) => row.classList.toggle("chosen", k === number));
  const { node, options } = moves[number];
  document.getElementById("move-title").textContent = `What the trees brought to move ${number + 1}`;
  const body = document.querySelector("#options tbody");
  body.replaceChildren();
  const costs = options.map(([, , , best]) => best);
  for (const [index, words, count, best] of options) {
    const row = costRow(index === nodes[node].index ? "taken" : "", index, best, words, costs);
    row.insertBefore(element("td", { class: "number" }, count), row.lastChild);
    body.append(row);
  }
}

if (moves.length > 0) {
  const body = document.querySelector("#move-list tbody");
  moves.forEach(({ path, node, tree, cost, options }, number) => {
    const row = element("tr");
    const all = options.reduce((sum, [, , count]) => sum + count, 0);
    const [, , taken] = options.find(([index]) => index === nodes[node].index);
    row.append(element("td", { class: "number" }, number + 1), element("td", {}, nodes[node].words));
    row.append(element("td", { class: "who" }, tree), element("td", { class: "number" }, shown(cost)));
    row.append(element("td", { class: "number" }, `${taken} of ${all}`));
    row.addEventListener("click", () => {
      choose(path, node);
      showMove(number);
    });
    body.append(row);
  });
  document.getElementById("moves").hidden = false;
  showMove(0);
}
