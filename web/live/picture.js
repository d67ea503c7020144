// The picture of the run as this page knows it: what the server sent, bounded like the server's own.

const kept = { seconds: 600, minutes: 1440, log: 200 };

export const picture = { n: 0, plan: null, state: null, diagnosis: null, seconds: [], minutes: [], log: [] };

const take = (name, delta) => {
  const list = picture[name];
  if (delta.reset) list.length = 0;
  list.push(...(delta[name] ?? []));
  if (list.length > kept[name]) list.splice(0, list.length - kept[name]);
};

/** Adds an update. */
export const add = (delta) => {
  picture.n = delta.n;
  if (delta.plan) picture.plan = delta.plan;
  if (delta.diagnosis) picture.diagnosis = delta.diagnosis;
  picture.state = delta.state;
  for (const name in kept) take(name, delta);
};

/** The points of the whole run: its minutes, and the seconds after them. */
const whole = () => {
  const last = picture.minutes.at(-1);
  const from = last ? last.t + last.w - 0.5 : -1;
  return [...picture.minutes, ...picture.seconds.filter((p) => p.t >= from)];
};

/** The points to show, and where the time axis begins and ends. */
export const view = (span) => {
  const points = span === "whole" ? whole() : picture.seconds;
  const to = points.length ? points.at(-1).t + points.at(-1).w : 0;
  const from = span === "whole" ? (points[0]?.t ?? 0) : Math.max(0, to - kept.seconds);
  return { points, from, to: Math.max(to, from + 60) };
};

/** Apdex zones of an operation over the last seconds. */
export const recent = (operation, seconds = 60) => {
  const sum = [0, 0, 0];
  for (const point of picture.seconds.slice(-seconds))
    point.ops[operation].forEach((n, i) => {
      sum[i] += n;
    });
  return sum;
};

/** Apdex of zones; null if no operation ended. */
export const apdex = ([satisfied, tolerating, frustrated]) => {
  const all = satisfied + tolerating + frustrated;
  return all ? (2 * satisfied + tolerating) / (2 * all) : null;
};

export const count = (zones) => zones[0] + zones[1] + zones[2];

const bands = [
  ["excellent", 0.94],
  ["good", 0.85],
  ["fair", 0.7],
  ["poor", 0.5],
  ["unacceptable", 0],
];
export const bandNames = bands.map(([name]) => name);

export const band = (score) => (score == null ? "" : bands.find(([, from]) => score >= from)[0]);
