// The charts of a run's report. All figures come from the JSON inside the page; the tables need no script.

import { timeChart } from "plimsoll/timechart";
import { colour } from "plimsoll/theme";
import { count, millis, percent, rate, score } from "plimsoll/figures";

const result = JSON.parse(document.getElementById("result").textContent);
const series = result.series;
const run = {
  t: series.t,
  steady_from_s: series.steady_from_s,
  steady_to_s: series.steady_to_s,
  events: result.events,
};

const steady = (column) =>
  column.filter((v, i) => v != null && run.t[i] >= run.steady_from_s && run.t[i] < run.steady_to_s);
const extremes = (column, format) => {
  const values = steady(column);
  return values.length ? `between ${format(Math.min(...values))} and ${format(Math.max(...values))}` : "not measured";
};
const fromZero = (u, _min, max) => [0, max > 0 ? max * 1.08 : 1];

const perSecond = (...columns) => run.t.map((_, i) => columns.reduce((sum, c) => sum + c[i], 0) / series.interval_s);

const throughput = () => {
  const answered = perSecond(series.ok, series.refused);
  const failed = perSecond(series.errors, series.overload);
  const lines = [
    { label: "valid answers per second", data: answered, colour: "blue", format: rate },
    { label: "users", data: series.users, colour: "orange", dash: "dashed", scale: "users", format: count },
  ];
  if (failed.some((n) => n > 0))
    lines.push({ label: "failed per second", data: failed, colour: "bad", dash: "dotted", format: rate });
  return {
    summary:
      `Valid answers per second in the steady state: ${extremes(answered, rate)}. ` +
      `Users: up to ${count(Math.max(0, ...series.users))}.`,
    lines,
    axes: [
      { scale: "y", label: "operations per second" },
      { scale: "users", side: 1, label: "users", grid: false, values: count },
    ],
    scales: { y: { range: fromZero }, users: { range: fromZero } },
  };
};

const bands = [
  ["excellent", 0.94, 1],
  ["good", 0.85, 0.94],
  ["fair", 0.7, 0.85],
  ["poor", 0.5, 0.7],
  ["unacceptable", 0, 0.5],
];

/** The bands' limits as lines with names, below the curve. */
const drawBands = (u) => {
  const { ctx, bbox } = u;
  const y = (v) => u.valToPos(v, "y", true);
  ctx.save();
  ctx.font = `${11 * devicePixelRatio}px ${colour("font")}`;
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  for (const [name, low, to] of bands) {
    const from = Math.max(low, u.scales.y.min);
    ctx.fillStyle = colour(`band-${name}`);
    ctx.globalAlpha = 0.13;
    ctx.fillRect(bbox.left, y(to), bbox.width, y(from) - y(to));
    ctx.globalAlpha = 1;
    ctx.fillStyle = colour("muted");
    ctx.fillText(name, bbox.left + bbox.width - 6, (y(from) + y(to)) / 2);
  }
  ctx.restore();
};

const apdex = () => {
  // The unacceptable band is half of the scale: it is cut while the run is above it.
  const bottom = Math.min(...series.apdex.filter((v) => v != null)) < 0.5 ? 0 : 0.4;
  return {
    summary:
      `Apdex of all operations that ended in an interval, in the steady state: ${extremes(series.apdex, score)}.` +
      `${bottom ? ` The scale begins at ${bottom}.` : ""}`,
    lines: [{ label: "Apdex", data: series.apdex, colour: "blue", format: score }],
    axes: [{ scale: "y", label: "Apdex", grid: false, values: (v) => v.toFixed(1) }],
    scales: { y: { range: () => [bottom, 1] } },
    under: drawBands,
  };
};

const latency = () => {
  const all = [series.p50_ms, series.p95_ms, series.p99_ms].flat().filter((v) => v > 0);
  const logarithmic = all.length > 0 && Math.max(...all) / Math.min(...all) > 30;
  const range = logarithmic ? (u, min, max) => uPlot.rangeLog(min || 1, max || 10, 10, false) : fromZero;
  return {
    summary:
      "From the moment the user was due, in the steady state: " +
      `median ${extremes(series.p50_ms, millis)}, 99th percentile ${extremes(series.p99_ms, millis)}.`,
    lines: [
      { label: "99th percentile", data: series.p99_ms, colour: "bad", dash: "dotted", format: millis },
      { label: "95th percentile", data: series.p95_ms, colour: "orange", dash: "dashed", format: millis },
      { label: "median", data: series.p50_ms, colour: "blue", format: millis },
    ],
    axes: [{ scale: "y", label: logarithmic ? "milliseconds, logarithmic" : "milliseconds", logarithmic }],
    scales: { y: { distr: logarithmic ? 3 : 1, range } },
  };
};

const processors = () => ({
  summary:
    "Share of all cores in the steady state: " +
    `whole machine ${extremes(series.cpu_machine, percent)}, database ${extremes(series.cpu_database, percent)}, ` +
    `workers ${extremes(series.cpu_workers, percent)}, generator ${extremes(series.cpu_generator, percent)}.`,
  lines: [
    { label: "whole machine", data: series.cpu_machine, colour: "muted", width: 1, format: percent },
    { label: "database", data: series.cpu_database, colour: "blue", format: percent },
    { label: "workers", data: series.cpu_workers, colour: "orange", dash: "dashed", format: percent },
    { label: "generator", data: series.cpu_generator, colour: "purple", dash: "dotted", format: percent },
  ],
  axes: [{ scale: "y", label: "share of all cores", values: (v) => `${Math.round(100 * v)} %` }],
  scales: { y: { range: () => [0, 1] } },
});

const megabytes = (v) => (v == null ? "–" : `${v.toFixed(1)} MB`);

const memory = () => {
  const none = run.t.map(() => null);
  // That of another machine is not known.
  const known = (column) => (column?.length ? column.map((v) => v && v / 2 ** 20) : none);
  const database = known(series.memory_database);
  const workers = known(series.memory_workers);
  const generator = known(series.memory_generator);
  return {
    summary:
      "Private memory of all processes of a kind, in the steady state: " +
      `database ${extremes(database, megabytes)}, workers ${extremes(workers, megabytes)}, ` +
      `generator ${extremes(generator, megabytes)}.`,
    lines: [
      { label: "database", data: database, colour: "blue", format: megabytes },
      { label: "workers", data: workers, colour: "orange", dash: "dashed", format: megabytes },
      { label: "generator", data: generator, colour: "purple", dash: "dotted", format: megabytes },
    ],
    axes: [{ scale: "y", label: "megabytes" }],
    scales: { y: { range: fromZero } },
  };
};

const charts = { throughput, apdex, latency, processors, memory };
if (run.t?.length)
  for (const figure of document.querySelectorAll("figure[data-chart]")) {
    timeChart(figure, run, charts[figure.dataset.chart]());
  }
document.documentElement.dataset.drawn = "yes";
