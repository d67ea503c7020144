// Formats of figures. Null means not measured.

const unknown = "–";

/** Cut, not rounded, as in the tables: 0.8499 must not be read as good. */
export const score = (x) => (x == null ? unknown : (Math.floor(x * 1000 + 1e-9) / 1000).toFixed(3));

export const count = (x) => (x == null ? unknown : Math.round(x).toLocaleString("en"));

export const rate = (x) => (x == null ? unknown : x < 100 ? x.toFixed(1) : count(x));

export const millis = (x) => {
  if (x == null) return unknown;
  return x >= 10_000 ? `${(x / 1000).toFixed(1)} s` : x < 10 ? `${x.toFixed(1)} ms` : `${count(x)} ms`;
};

export const percent = (x) => (x == null ? "unavailable" : `${(100 * x).toFixed(x < 0.1 ? 1 : 0)} %`);

/** Time since the start, short: 45 s, 2:05, 1:02:05. */
export const clock = (s) => {
  if (s < 60) return `${Math.round(s * 10) / 10} s`;
  const two = (n) => String(Math.floor(n)).padStart(2, "0");
  return s < 3600
    ? `${Math.floor(s / 60)}:${two(s % 60)}`
    : `${Math.floor(s / 3600)}:${two((s % 3600) / 60)}:${two(s % 60)}`;
};
