// A chart over time: lines that differ in dash and colour, a legend with the values under the cursor,
// arrow keys for the cursor, shaded phases, and a summary in words.

import { colour, onTheme } from "plimsoll/theme";
import { clock } from "plimsoll/figures";

const dashes = { solid: [], dashed: [8, 4], dotted: [2, 4] };
const group = uPlot.sync("run");

const element = (tag, className, text) => {
  const made = document.createElement(tag);
  made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
};

const write = (node, text) => {
  if (node.textContent !== text) node.textContent = text;
};

const font = () => `12px ${colour("font")}`;

const decades = (_, ticks) => ticks.map((v) => (Math.abs(Math.log10(v) % 1) < 1e-9 ? v : null));

const axis = (spec) => ({
  ...(spec.logarithmic && { filter: decades }),
  scale: spec.scale,
  side: spec.side ?? 3,
  label: spec.label,
  size: 64,
  labelSize: 22,
  labelFont: font(),
  font: font(),
  gap: 6,
  stroke: () => colour("muted"),
  grid: {
    show: spec.grid ?? true,
    stroke: () => colour("grid"),
    width: 1,
    ...(spec.logarithmic && { filter: decades }),
  },
  ticks: { show: false },
  values: spec.values && ((_, ticks) => ticks.map((v) => (v == null ? "" : spec.values(v)))),
});

/** Greys out what is not the steady state, and marks events with a line. */
const shade = (u, run) => {
  const { ctx, bbox } = u;
  const x = (s) => Math.min(Math.max(u.valToPos(s, "x", true), bbox.left), bbox.left + bbox.width);
  ctx.save();
  ctx.fillStyle = colour("shade");
  for (const [from, to] of [
    [0, run.steady_from_s],
    [run.steady_to_s, Infinity],
  ]) {
    ctx.fillRect(x(from), bbox.top, x(to) - x(from), bbox.height);
  }
  ctx.strokeStyle = colour("bad");
  ctx.setLineDash([4, 4]);
  for (const event of run.events) {
    ctx.beginPath();
    ctx.moveTo(x(event.at_s), bbox.top);
    ctx.lineTo(x(event.at_s), bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
};

/** The legend; returns how to show the values at one moment, of the figures as they are then. */
const makeLegend = (box, now, latest) => {
  const list = element("ul", "legend");
  const moment = element("li", "moment", "");
  const values = now.chart.lines.map((line) => {
    const item = element("li", "entry");
    const swatch = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    swatch.setAttribute("class", `swatch ${line.colour} ${line.dash ?? "solid"}`);
    swatch.setAttribute("viewBox", "0 0 24 8");
    swatch.setAttribute("aria-hidden", "true");
    swatch.innerHTML = '<path d="M0 4H24"/>';
    const value = element("span", "value", "");
    item.append(swatch, element("span", "name", line.label), value);
    list.append(item);
    return value;
  });
  list.append(moment);
  box.append(list);
  return (pointed) => {
    const { run, chart } = now;
    const index = pointed ?? (latest && run.t.length ? run.t.length - 1 : null);
    write(moment, pointed == null ? "" : `at ${clock(run.t[pointed])}`);
    values.forEach((value, i) => write(value, index == null ? "" : chart.lines[i].format(chart.lines[i].data[index])));
  };
};

/** Left and right move the cursor; the moment is read out. */
const steer = (plot, frame, now, show) => {
  const voice = element("p", "unseen", "");
  voice.setAttribute("aria-live", "polite");
  frame.after(voice);
  let at = null;
  frame.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const {
      run,
      chart: { lines },
    } = now;
    if (!run.t.length) return;
    at = Math.min(Math.max((at ?? now.chart.start?.() ?? 0) + step, 0), run.t.length - 1);
    plot.setCursor({ left: plot.valToPos(run.t[at], "x"), top: plot.bbox.height / devicePixelRatio / 2 });
    show(at);
    voice.textContent = `at ${clock(run.t[at])}: ${lines.map((l) => `${l.label} ${l.format(l.data[at])}`).join(", ")}`;
  });
};

/**
 * Draws into figure.
 *   run    { t, steady_from_s, steady_to_s, events, from, to }
 *   chart  { summary, height, lines: [{label, data, colour, dash, width, scale, format}],
 *            axes: [{scale, side, label, values, grid, logarithmic}],
 *            scales: {name: {range, distr}}, under(u): drawn below the lines, latest: the legend shows the last values,
 *            start(): where the arrow keys begin }
 * Returns update(run, chart), which takes other figures for the same lines.
 */
export const timeChart = (figure, run, chart) => {
  const now = { run, chart };
  const frame = element("div", "plot");
  frame.tabIndex = 0;
  frame.setAttribute("role", "img");
  const caption = element("figcaption", "summary");
  const summarize = () => {
    write(caption, now.chart.summary);
    frame.setAttribute("aria-label", `${now.chart.summary} Left and right arrow keys read single moments.`);
  };
  figure.append(frame);
  const show = makeLegend(figure, now, chart.latest);
  const size = () => ({ width: frame.clientWidth, height: chart.height ?? 230 });
  const data = () => [now.run.t, ...now.chart.lines.map((line) => line.data)];

  const plot = new uPlot(
    {
      ...size(),
      legend: { show: false },
      cursor: { sync: { key: group.key, setSeries: false }, drag: { x: false, y: false }, points: { size: 7 } },
      scales: {
        x: { time: false, range: () => [now.run.from ?? 0, now.run.to ?? (now.run.t.at(-1) || 1)] },
        ...chart.scales,
      },
      axes: [
        {
          ...axis({ scale: "x", side: 2, label: "time since the start of the ramp", values: clock }),
          size: 34,
          grid: { show: false },
        },
        ...chart.axes.map(axis),
      ],
      series: [
        {},
        ...chart.lines.map((line) => ({
          label: line.label,
          scale: line.scale ?? "y",
          width: line.width ?? 2,
          dash: dashes[line.dash ?? "solid"],
          stroke: () => colour(line.colour),
          points: { show: () => now.run.t.length < 3 },
          spanGaps: false,
        })),
      ],
      hooks: {
        drawAxes: [
          (u) => {
            shade(u, now.run);
            chart.under?.(u);
          },
        ],
        setCursor: [(u) => show(u.cursor.idx ?? null)],
      },
    },
    data(),
    frame,
  );

  group.sub(plot);
  steer(plot, frame, now, show);
  onTheme(() => plot.redraw(false, true));
  new ResizeObserver(() => plot.setSize(size())).observe(frame);
  summarize();
  figure.append(caption);
  return (run, chart) => {
    now.run = run;
    now.chart = { ...now.chart, ...chart };
    plot.setData(data());
    show(plot.cursor.left >= 0 ? (plot.cursor.idx ?? null) : null);
    summarize();
  };
};
