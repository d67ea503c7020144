// Apdex by operation over time: a table with a strip of colours in each row. The strips are one tab stop.

import { apdex, band, bandNames, count, picture, recent } from "./picture.js";
import { by, fill, make, name, write } from "./node.js";
import { clock, count as number, score } from "plimsoll/figures";
import { colour, onTheme } from "plimsoll/theme";

const cells = 60;
let shown = { cell: 10, first: 0, n: 1, sums: [] }; // sums[operation][cell] are zones
let at = null; // {row, cell} under the pointer or the keyboard cursor

/** Seconds per cell, so that all cells fit. */
const cellOf = (span) => [2, 5, 10].find((s) => span <= s * cells) ?? Math.ceil(span / cells / 60) * 60;

/** Sums points into cells of equal width. */
const gather = ({ points, from, to }) => {
  const cell = cellOf(Math.round(to - from));
  const end = Math.ceil(to / cell);
  const first = Math.max(0, Math.floor(from / cell), end - cells);
  const sums = picture.plan.operations.map(() => Array.from({ length: end - first }, () => [0, 0, 0]));
  for (const point of points) {
    const i = Math.floor((point.t + 0.001) / cell) - first;
    if (i < 0 || i >= end - first) continue;
    point.ops.forEach((zones, op) =>
      zones.forEach((n, k) => {
        sums[op][i][k] += n;
      }),
    );
  }
  return { cell, first, sums, n: end - first };
};

const colours = () => Object.fromEntries(bandNames.map((b) => [b, colour(`heat-${b}`)]));

const draw = (canvas, row, paint) => {
  const width = Math.round(canvas.clientWidth * devicePixelRatio);
  const height = Math.round(canvas.clientHeight * devicePixelRatio);
  if (!width) return;
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const ctx = canvas.getContext("2d");
  ctx.clearRect(0, 0, width, height);
  const step = width / shown.n;
  shown.sums[row].forEach((zones, i) => {
    const x = Math.round(i * step);
    const score = apdex(zones);
    if (score == null) return;
    ctx.fillStyle = paint[band(score)];
    ctx.fillRect(x, devicePixelRatio, Math.max(1, Math.round((i + 1) * step) - x - 1), height - 2 * devicePixelRatio);
  });
  if (at?.row !== row) return;
  ctx.strokeStyle = colour("text");
  ctx.lineWidth = 2 * devicePixelRatio;
  ctx.strokeRect(Math.round(at.cell * step), ctx.lineWidth / 2, Math.max(3, step - 1), height - ctx.lineWidth);
};

const drawAll = () => {
  const paint = colours();
  [...by("heat").children].forEach((row, i) => draw(row.lastElementChild.firstElementChild, i, paint));
};

const tell = () => {
  const zones = shown.sums[at.row]?.[at.cell];
  if (!zones) return;
  const from = (shown.first + at.cell) * shown.cell;
  const value = count(zones)
    ? `Apdex ${score(apdex(zones))} ${band(apdex(zones))}, ${number(count(zones))} operations`
    : "no operation ended";
  write(
    by("heat-value"),
    `${picture.plan.operations[at.row].title}, ${clock(from)} to ${clock(from + shown.cell)}: ${value}`,
  );
};

const move = (row, cell) => {
  const rows = picture.plan.operations.length;
  at = { row: Math.min(Math.max(row, 0), rows - 1), cell: Math.min(Math.max(cell, 0), shown.n - 1) };
  drawAll();
  tell();
};

/** The newest cell with data. */
const newest = () => {
  const to = (picture.seconds.at(-1)?.t ?? 0) / shown.cell - shown.first;
  return Math.min(shown.n - 1, Math.max(0, Math.floor(to)));
};

const steps = {
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  PageUp: [0, -10],
  PageDown: [0, 10],
  Home: [0, -cells],
  End: [0, cells],
};

const steer = (event) => {
  const canvas = event.target.closest("canvas");
  const step = steps[event.key];
  if (!canvas || !step || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  const row = [...by("heat").children].indexOf(canvas.closest("tr"));
  move((at?.row ?? row) + step[0], (at?.cell ?? newest()) + step[1]);
};

const point = (event) => {
  const canvas = event.target.closest("canvas");
  if (!canvas) return;
  const box = canvas.getBoundingClientRect();
  move(
    [...by("heat").children].indexOf(canvas.closest("tr")),
    Math.floor(((event.clientX - box.left) / box.width) * shown.n),
  );
};

const createRow = () => {
  const row = make("tr");
  const head = make("th");
  head.scope = "row";
  const strip = make("td", "strip");
  const canvas = make("canvas");
  canvas.setAttribute("role", "img");
  strip.append(canvas);
  const mark = make("td");
  mark.append(make("span", "mark"));
  row.append(head, make("td", "n"), make("td", "n score"), mark, make("td", "n"), make("td", "n"), strip);
  return row;
};

const showRow = (row, op) => {
  const [head, target, last, mark, all, steady, strip] = row.children;
  const zones = recent(op.index);
  const value = apdex(zones);
  write(head, op.title);
  head.title = op.id;
  write(target, `${number(op.target_ms)} ms`);
  write(last, score(value));
  write(mark.firstElementChild, band(value) || "–");
  name(mark.firstElementChild, `mark ${band(value)}`);
  write(all, number(count(zones)));
  write(steady, score(apdex(picture.state.operations?.[op.index] ?? [0, 0, 0])));
  const canvas = strip.firstElementChild;
  // One tab stop; the arrow keys go on from there.
  canvas.tabIndex = op.index === 0 ? 0 : -1;
  canvas.setAttribute(
    "aria-label",
    op.index === 0
      ? "Apdex of the operations over time; arrow keys read single moments"
      : `Apdex of ${op.title} over time`,
  );
};

export const startHeat = () => {
  for (const b of bandNames) by("heat-key").append(make("span", `mark ${b}`, b));
  const body = by("heat");
  body.addEventListener("keydown", steer);
  body.addEventListener("pointermove", point);
  const leave = () => {
    at = null;
    if (picture.plan) drawAll();
  };
  body.addEventListener("pointerleave", leave);
  body.addEventListener("focusout", leave);
  onTheme(() => picture.plan && shown.sums.length && drawAll());
  new ResizeObserver(() => picture.plan && shown.sums.length && drawAll()).observe(body);
};

export const showHeat = (view) => {
  if (!picture.plan?.operations) return;
  shown = gather(view);
  fill(
    by("heat"),
    picture.plan.operations.map((op, index) => ({ ...op, index })),
    createRow,
    showRow,
  );
  drawAll();
};
