// The charts over time.

import { apdex, picture } from "./picture.js";
import { by, fill, make, write } from "./node.js";
import { timeChart } from "plimsoll/timechart";
import { clock, count, millis, percent, rate, score } from "plimsoll/figures";

const fromZero = (u, _min, max) => [0, max > 0 ? max * 1.08 : 1];
const logarithmic = (u, min, max) => uPlot.rangeLog(min > 0 ? min : 1, max > 0 ? max : 1000, 10, false);
const some = (x) => (x == null ? "–" : x < 10 ? x.toFixed(1) : count(x));
const megabytes = (x) => (x == null ? "–" : `${x < 10 ? x.toFixed(2) : count(x)} MB`);

const line = (label, read, colour, format, more = {}) => ({ label, read, colour, format, ...more });

/** The chart of each figure: its lines, and how each reads a point. */
const charts = {
  throughput: {
    lines: [
      line("valid answers per second", (p) => (p.ok + p.refused) / p.w, "blue", rate),
      line("failed per second", (p) => (p.errors + p.overload) / p.w, "bad", rate, { dash: "dotted" }),
      line("users", (p) => p.users, "orange", count, { dash: "dashed", scale: "users" }),
    ],
    axes: [
      { scale: "y", label: "operations per second" },
      { scale: "users", side: 1, label: "users", grid: false, values: count },
    ],
    scales: { y: { range: fromZero }, users: { range: fromZero } },
    what: "Operations per second, and users.",
  },
  latency: {
    lines: [
      line("99th percentile", (p) => p.p99, "bad", millis, { dash: "dotted" }),
      line("95th percentile", (p) => p.p95, "orange", millis, { dash: "dashed" }),
      line("median", (p) => p.p50, "blue", millis),
    ],
    axes: [{ scale: "y", label: "milliseconds, logarithmic", logarithmic: true, values: count }],
    scales: { y: { distr: 3, range: logarithmic } },
    what: "Latency of all operations that ended, from the moment their users were due.",
  },
  waits: {
    lines: [
      ["blue", "solid"],
      ["bad", "dashed"],
      ["purple", "dotted"],
      ["orange", "solid"],
      ["muted", "dashed"],
      ["muted", "dotted"],
    ].map(([colour, dash], i) => line("", (p) => p.db?.classes[i] ?? null, colour, some, { dash })),
    axes: [{ scale: "y", label: "sessions" }],
    scales: { y: { range: fromZero } },
    what: "What active database sessions do or wait for, sampled four times a second.",
  },
  processors: {
    lines: [
      line("whole machine", (p) => p.cpu.machine, "muted", percent, { width: 1 }),
      line("database", (p) => p.cpu.database, "blue", percent),
      line("workers", (p) => p.cpu.workers, "orange", percent, { dash: "dashed" }),
      line("generator", (p) => p.cpu.generator, "purple", percent, { dash: "dotted" }),
    ],
    axes: [{ scale: "y", label: "share of all cores", values: (v) => `${Math.round(100 * v)} %` }],
    scales: { y: { range: () => [0, 1] } },
    what: "Share of all cores of the machine.",
  },
  log: {
    lines: [
      line("log per second", (p) => (p.db?.wal == null ? null : p.db.wal / 1e6), "blue", megabytes),
      line(
        "files of sorts and hashes per second",
        (p) => (p.db?.temp_bytes == null ? null : p.db.temp_bytes / 1e6),
        "bad",
        megabytes,
        { dash: "dotted" },
      ),
      line("temp tables per second", (p) => p.workers?.temp_tables ?? null, "orange", some, {
        dash: "dashed",
        scale: "tables",
      }),
    ],
    axes: [
      { scale: "y", label: "megabytes per second" },
      { scale: "tables", side: 1, label: "temp tables per second", grid: false },
    ],
    scales: { y: { range: fromZero }, tables: { range: fromZero } },
    what: "Write-ahead log of the whole server, spilled files, and temp tables that the workers used.",
  },
  generator: {
    lines: [
      line("longest lag", (p) => p.lag, "bad", millis, { dash: "dashed" }),
      line("operations under way", (p) => p.flight, "blue", count, { scale: "flight" }),
      line("waiting for a slot", (p) => p.backlog, "orange", count, { dash: "dotted", scale: "flight" }),
    ],
    axes: [
      { scale: "y", label: "milliseconds" },
      { scale: "flight", side: 1, label: "operations", grid: false, values: count },
    ],
    scales: { y: { range: fromZero }, flight: { range: fromZero } },
    what: "How late operations were sent, and how many were under way.",
  },
};

const drawn = {}; // by figure: how to update it

const run = ({ points, from, to }) => ({
  t: points.map((p) => p.t),
  from,
  to,
  steady_from_s: picture.plan.ramp_s,
  steady_to_s: picture.plan.ramp_s + picture.plan.steady_s,
  events: picture.log.filter((e) => e.tone !== "note" && e.at_s >= from).map((e) => ({ at_s: e.at_s })),
});

const figuresOf = (chart, points) => {
  const lines = chart.lines.map(({ read, ...rest }) => ({ ...rest, data: points.map(read) }));
  return { lines, summary: chart.what };
};

export const showCharts = (view) => {
  if (!view.points.length) return;
  picture.plan.classes.forEach((label, i) => {
    charts.waits.lines[i].label = label;
  });
  const now = run(view);
  for (const [id, chart] of Object.entries(charts)) {
    const figures = figuresOf(chart, view.points);
    if (drawn[id]) drawn[id](now, figures);
    else
      drawn[id] = timeChart(document.querySelector(`figure[data-chart="${id}"]`), now, {
        ...chart,
        ...figures,
        height: 210,
        latest: true,
        start: () => picture.seconds.length,
      });
  }
};

const columns = [
  ["from", (p) => clock(p.t)],
  ["users", (p) => count(p.users)],
  ["answers/s", (p) => rate((p.ok + p.refused) / p.w)],
  ["failed", (p) => count(p.errors + p.overload)],
  ["Apdex", (p) => score(apdex(p.ops.reduce((sum, z) => sum.map((n, i) => n + z[i]), [0, 0, 0])))],
  ["p50", (p) => millis(p.p50)],
  ["p95", (p) => millis(p.p95)],
  ["p99", (p) => millis(p.p99)],
  ["active sessions", (p) => some(p.db?.classes.reduce((s, x) => s + x, 0) ?? null)],
  ["database CPU", (p) => percent(p.cpu.database)],
  ["machine CPU", (p) => percent(p.cpu.machine)],
  ["log MB/s", (p) => some(p.db?.wal == null ? null : p.db.wal / 1e6)],
  ["temp tables/s", (p) => some(p.workers?.temp_tables ?? null)],
  ["lag", (p) => millis(p.lag)],
];
const rowsShown = 60;

const cell = (tag, i) => {
  const made = make(tag, "n");
  if (tag === "th") made.scope = i === undefined ? "row" : "col";
  return made;
};

const createRow = () => {
  const row = make("tr");
  columns.forEach((_, i) => row.append(cell(i ? "td" : "th")));
  return row;
};

/** The table below the charts, while it is open. */
export const showFigures = (view) => {
  if (!by("figures").open) return;
  fill(
    by("figures-head"),
    columns,
    () => cell("th", 0),
    (th, [title]) => write(th, title),
  );
  fill(by("figures-body"), view.points.slice(-rowsShown).reverse(), createRow, (row, p) =>
    columns.forEach(([, text], i) => write(row.children[i], text(p))),
  );
};
