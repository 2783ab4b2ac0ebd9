"use strict";
const dark = matchMedia("(prefers-color-scheme: dark)");

// What is heavy stands in the page compressed and is inflated when it is needed, once.
const inflated = new Map();
function packed(id) {
  if (!inflated.has(id)) inflated.set(id, inflate(document.getElementById(id).textContent));
  return inflated.get(id);
}
async function inflate(text) {
  const { body } = await fetch(`data:application/gzip;base64,${text.trim()}`);
  return new Response(body.pipeThrough(new DecompressionStream("gzip"))).text();
}

let plotly = null;
function loadPlotly() {
  plotly ??= packed("packed-plotly").then((source) => {
    const script = document.createElement("script");
    script.textContent = source;
    document.head.append(script);
  });
  return plotly;
}

let common = null;
async function figureOf(name) {
  if (document.getElementById(`packed-${name}`)) return JSON.parse(await packed(`packed-${name}`));
  common ??= packed("packed-figures").then(JSON.parse);
  return (await common)[name];
}

function paint(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function themed(layout) {
  const axis = { gridcolor: paint("--line"), linecolor: paint("--line"), zeroline: false, automargin: true };
  const page = {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: getComputedStyle(document.body).fontFamily, size: 12.5, color: paint("--soft") },
    margin: { t: 20, r: 16, b: 56, l: 62 },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: paint("--soft"), activecolor: paint("--ink") },
    legend: { orientation: "h", y: 1.02, yanchor: "bottom" },
    hoverlabel: { bgcolor: paint("--raised"), bordercolor: paint("--line"), font: { color: paint("--ink") } },
    ...layout,
  };
  for (const key of Object.keys(page)) {
    if (/^[xy]axis/.test(key)) page[key] = { ...axis, ...page[key] };
  }
  return page;
}

function shown(trace) {
  const own = trace.mode === "markers+text"
    ? { ...trace, marker: { ...trace.marker, line: { ...trace.marker.line, color: paint("--paper") } } }
    : trace;
  return chosen.scheme && own.legendgroup && own.legendgroup !== chosen.scheme ? { ...own, opacity: 0.35 } : own;
}

async function draw(element) {
  const name = element.dataset.figure;
  const [figure] = await Promise.all([figureOf(name), loadPlotly()]);
  if (element.dataset.figure !== name) return;  // another run has been asked for meanwhile
  element.querySelector(".static")?.remove();
  await Plotly.react(element, figure.data.map(shown), themed(figure.layout), { responsive: true, displaylogo: false });
  element.dataset.drawn = "yes";
}

// Pictures are drawn when they come near the window: a page of hundreds opens at once.
const watcher = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (entry.isIntersecting) {
      watcher.unobserve(entry.target);
      draw(entry.target);
    }
  }
}, { rootMargin: "600px" });
const plots = () => document.querySelectorAll("[data-figure]");
const redraw = () => plots().forEach((element) => element.dataset.drawn && draw(element));
// The text and the static pictures are painted first: to load the library takes seconds.
requestAnimationFrame(() => setTimeout(() => plots().forEach((element) => watcher.observe(element))));
dark.addEventListener("change", redraw);
addEventListener("beforeprint", () => plots().forEach(draw));

// A closed section of a large leaderboard is filled when it is opened.
async function fill(section) {
  const body = section.querySelector("[data-packed]");
  if (!body) return;
  const id = body.dataset.packed;
  body.removeAttribute("data-packed");
  body.innerHTML = await packed(id);
  body.querySelectorAll("[data-figure]").forEach((element) => watcher.observe(element));
  mark(section);
}
document.querySelectorAll("details.scenario").forEach((section) => {
  section.addEventListener("toggle", () => section.open && fill(section));
});

// A link to a scheme and a scenario: #scheme=copa&scenario=calibrated/nepal
const chosen = { scheme: "", scenario: "" };
function mark(root) {
  root.querySelectorAll("[data-scheme]").forEach((row) => {
    row.classList.toggle("chosen", row.dataset.scheme === chosen.scheme);
  });
}
async function follow() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  chosen.scheme = wanted.get("scheme") ?? "";
  chosen.scenario = wanted.get("scenario") ?? "";
  mark(document);
  redraw();
  const section = [...document.querySelectorAll("details.scenario")]
    .find((each) => each.dataset.scenario === chosen.scenario);
  if (!section) return;
  section.open = true;
  await fill(section);
  section.scrollIntoView();
}
addEventListener("hashchange", follow);
if (location.hash) follow();

// A click on a heading sorts by its column, a second one the other way; rows of flows stay with their scheme.
function figure(row, column) {
  const text = row.cells[column]?.textContent.trim() ?? "";
  const number = parseFloat(text);
  return Number.isNaN(number) ? text : number;
}
function precedes(one, other) {
  if (typeof one === typeof other) return typeof one === "number" ? one - other : one.localeCompare(other);
  return typeof one === "number" ? -1 : 1;
}
function sort(table, column, downwards) {
  const body = table.tBodies[0];
  const groups = [];
  for (const row of body.rows) {
    if (row.classList.contains("flow")) groups.at(-1).push(row);
    else groups.push([row]);
  }
  groups.sort(([one], [other]) => {
    const order = precedes(figure(one, column), figure(other, column));
    return downwards ? -order : order;
  });
  body.append(...groups.flat());
}

document.addEventListener("click", (event) => {
  const button = event.target.closest(".tabs button");
  if (button) {
    for (const other of button.parentElement.children) other.setAttribute("aria-selected", String(other === button));
    const plot = document.getElementById(button.getAttribute("aria-controls"));
    plot.dataset.figure = button.dataset.shows;
    draw(plot);
  }
  const heading = event.target.closest("table.sortable th");
  if (heading) {
    const downwards = heading.getAttribute("aria-sort") !== "descending";
    for (const other of heading.parentElement.cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", downwards ? "descending" : "ascending");
    sort(heading.closest("table"), heading.cellIndex, downwards);
  }
});
