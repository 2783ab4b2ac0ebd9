"use strict";
const figures = JSON.parse(document.getElementById("figures").textContent);
const dark = matchMedia("(prefers-color-scheme: dark)");

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

function draw(element) {
  const figure = figures[element.dataset.figure];
  const data = figure.data.map((trace) =>
    trace.mode === "markers+text"
      ? { ...trace, marker: { ...trace.marker, line: { ...trace.marker.line, color: paint("--paper") } } }
      : trace);
  Plotly.react(element, data, themed(figure.layout), { responsive: true, displaylogo: false });
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
const plots = document.querySelectorAll("[data-figure]");
plots.forEach((element) => watcher.observe(element));

dark.addEventListener("change", () => plots.forEach((element) => element.dataset.drawn && draw(element)));
addEventListener("beforeprint", () => plots.forEach(draw));

document.querySelectorAll(".tabs button").forEach((button) => {
  button.addEventListener("click", () => {
    for (const other of button.parentElement.children) other.setAttribute("aria-selected", String(other === button));
    const plot = document.getElementById(button.getAttribute("aria-controls"));
    plot.dataset.figure = button.dataset.shows;
    draw(plot);
  });
});
