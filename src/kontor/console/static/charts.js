// Draws the charts of a page from the data that stands beside each canvas. Colours come from console.css.
"use strict";

const style = () => getComputedStyle(document.documentElement);
const colourOf = (name) => style().getPropertyValue(`--chart-${name}`).trim() || style().getPropertyValue("--chart-other").trim();
const withAlpha = (colour, alpha) => `color-mix(in srgb, ${colour} ${alpha * 100}%, transparent)`;

function makeDatasets(facts) {
  const sets = [];
  for (const series of facts.series) {
    const colour = colourOf(series.colour);
    if (series.low && series.high) {
      const edge = { type: "line", borderWidth: 0, pointRadius: 0, pointHitRadius: 0, tension: 0.25, isEdge: true };
      sets.push({ ...edge, label: `${series.name} ↑`, data: series.high, stack: `${series.name} ↑`, fill: "+1", backgroundColor: withAlpha(colour, 0.22) });
      sets.push({ ...edge, label: `${series.name} ↓`, data: series.low, stack: `${series.name} ↓`, fill: false });
    }
    const isLine = series.kind === "line";
    sets.push({
      type: series.kind, label: series.name, data: series.values, stack: series.stack || (isLine ? series.name : facts.isStacked ? "all" : undefined),
      borderColor: colour, backgroundColor: isLine ? withAlpha(colour, 0.12) : series.isDashed ? withAlpha(colour, 0.45) : colour,
      borderWidth: isLine ? 2 : series.isDashed ? 1 : 0, borderDash: series.isDashed ? [5, 4] : [], borderRadius: isLine ? 0 : 3,
      pointRadius: 0, pointHitRadius: 12, stepped: isLine && facts.isStepped, tension: facts.isStepped ? 0 : 0.15,
      fill: isLine && facts.series.length === 1 ? "origin" : false, maxBarThickness: 42, order: isLine ? 0 : 1,
    });
  }
  return sets;
}

function makeOptions(facts) {
  const text = style().getPropertyValue("--muted").trim();
  const line = style().getPropertyValue("--line").trim();
  const whole = new Intl.NumberFormat(facts.language, { style: "currency", currency: facts.currency, maximumFractionDigits: 0 });
  const exact = new Intl.NumberFormat(facts.language, { style: "currency", currency: facts.currency });
  const isStill = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  return {
    responsive: true, maintainAspectRatio: false, animation: isStill ? false : { duration: 250 }, locale: facts.language,
    interaction: { mode: "index", intersect: false },
    scales: {
      x: { stacked: facts.isStacked, ticks: { color: text, maxRotation: 0, autoSkip: true, autoSkipPadding: 12 }, grid: { display: false }, border: { color: line } },
      y: { stacked: facts.isStacked, ticks: { color: text, maxTicksLimit: 6, callback: (value, at, ticks) => (ticks.every((tick) => Number.isInteger(tick.value)) ? whole : exact).format(value) }, grid: { color: line }, border: { display: false } },
    },
    plugins: {
      legend: {
        display: facts.series.length > 1, position: "bottom",
        labels: { color: text, boxWidth: 12, boxHeight: 12, filter: (item, data) => !data.datasets[item.datasetIndex].isEdge },
      },
      tooltip: {
        filter: (item) => !item.dataset.isEdge && item.raw !== null && item.raw !== 0,
        callbacks: { label: (item) => `${item.dataset.label}: ${exact.format(item.raw)}` },
      },
    },
  };
}

function drawAll() {
  for (const figure of document.querySelectorAll("figure.chart")) {
    const facts = JSON.parse(figure.querySelector(".chart-data").textContent);
    const canvas = figure.querySelector("canvas");
    Chart.getChart(canvas)?.destroy();
    new Chart(canvas, { data: { labels: facts.labels, datasets: makeDatasets(facts) }, options: makeOptions(facts) });
  }
}

drawAll();
document.documentElement.dataset.charts = "drawn";
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
