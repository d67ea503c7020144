// State of the run: phase, time, tiles, and at the end the result.

import { apdex, band, picture } from "./picture.js";
import { by, fill, make, name, write } from "./node.js";
import { clock, count, millis, percent, rate, score } from "plimsoll/figures";

const words = {
  prepare: "Preparing",
  start: "Workers start",
  "audit before the run": "Auditing the books before the run",
  "log in": "Users log in",
  ramp: "Ramp: users enter",
  steady: "Steady state: measuring",
  drain: "Drain: open operations end",
  audit: "Auditing the books",
  done: "The run is over",
};

const mean = (list) => (list.length ? list.reduce((sum, x) => sum + x, 0) / list.length : null);

const bytes = (x) =>
  x == null ? "–" : x < 1e4 ? `${count(x)} B` : x < 1e7 ? `${count(x / 1e3)} kB` : `${(x / 1e6).toFixed(1)} MB`;

/** [name, value, unit, more, bad] of each tile. */
const tiles = () => {
  const { plan, state, seconds } = picture;
  const ended = state.phase === "audit" || state.phase === "done"; // the last values are no longer a rate
  const now = ended ? null : seconds.at(-1);
  const ten = ended ? [] : seconds.slice(-10);
  const zones = [0, 0, 0];
  for (const p of ended ? [] : seconds.slice(-60))
    for (const z of p.ops)
      z.forEach((n, i) => {
        zones[i] += n;
      });
  const minute = apdex(zones);
  const failed = ten.reduce((sum, p) => sum + p.errors + p.overload, 0);
  const sum = (list) => list.reduce((all, x) => all + x, 0);
  const samples = ten.filter((p) => p.db);
  const waiting = mean(samples.map((p) => sum(p.db.classes.slice(1))));
  const atWork = mean(samples.map((p) => sum(p.db.classes)));
  const late = ten.length ? Math.max(...ten.map((p) => p.lag)) : null;
  return [
    [
      plan?.open ? "Sessions" : "Users",
      count(seconds.at(-1)?.users ?? state.logged_in),
      "",
      `of ${count(state.wanted)}${state.by_hand ? ", changed by the user" : ""}`,
    ],
    [
      "Throughput",
      rate(mean(ten.map((p) => p.ok + p.refused))),
      "per s",
      ended ? "the load has ended" : "valid answers, last 10 s",
    ],
    [
      "Apdex",
      score(minute),
      "",
      minute == null ? (ended ? "the load has ended" : "no operation ended yet") : `${band(minute)}, last minute`,
      minute != null && minute < 0.7,
    ],
    [
      "Apdex, steady",
      score(state.apdex),
      "",
      state.apdex == null ? "not yet" : `${count(state.ops)} operations`,
      state.apdex != null && state.apdex < 0.7,
    ],
    ["p95", millis(now?.p95 ?? null), "", "latency, last second"],
    [
      "Failed",
      count(ended ? state.failed : failed),
      "",
      ended ? "in the steady state" : `last 10 s; ${count(state.failed)} in the steady state`,
      failed > 0,
    ],
    [
      "Database CPU",
      now?.cpu.database == null ? "–" : percent(now.cpu.database),
      "",
      now ? `machine ${percent(now.cpu.machine)} of ${plan.cores} cores` : "",
    ],
    [
      "Sessions waiting",
      waiting == null ? "–" : waiting.toFixed(1),
      "",
      ended
        ? "the load has ended"
        : atWork == null
          ? "no database watched"
          : `of ${atWork.toFixed(1)} active, last 10 s`,
    ],
    [
      "Log",
      bytes(now?.db?.wal ?? null),
      "per s",
      now?.workers ? `${rate(now.workers.temp_tables)} temp tables per s` : "",
    ],
    [
      "Lag",
      millis(late),
      "",
      "of the generator, largest in 10 s",
      late != null && plan.lag_limit_ms > 0 && late > plan.lag_limit_ms,
    ],
  ];
};

const createTile = () => {
  const box = make("div");
  const value = make("dd");
  value.append(make("span"), " ", make("small"));
  box.append(make("dt"), value, make("dd", "more"));
  return box;
};

const showTile = (box, [title, value, unit, more, bad]) => {
  name(box, bad ? "bad" : "");
  const [dt, dd, below] = box.children;
  write(dt, title);
  write(dd.children[0], value);
  write(dd.children[1], unit);
  write(below, more);
};

const showResult = (result) => {
  const box = by("result");
  if (!result || !box.hidden) return;
  box.hidden = false;
  name(box, result.valid ? "result" : "result bad");
  if (result.error) {
    box.append(make("h2", "", "There is no result"), make("p", "", result.error));
    return;
  }
  box.append(
    make(
      "h2",
      "",
      `Apdex ${score(result.apdex)} ${result.band}: ${result.valid ? "a valid run" : "not valid"}`,
    ),
  );
  box.append(
    make(
      "p",
      "",
      `${count(result.ops)} operations, ${rate(result.ops_per_s)} valid answers per second, audit: ${result.audit}.`,
    ),
  );
  if (result.reasons?.length) {
    const list = make("ul");
    for (const reason of result.reasons) list.append(make("li", "", reason));
    box.append(list);
  }
  const where = make("p");
  if (result.report_here) {
    const link = make("a", "", "Report of the run");
    link.href = "/report";
    where.append(link, ` (${result.report})`);
  } else if (result.report) {
    where.append("Report: ", make("code", "", result.report));
  }
  box.append(where);
};

export const showStanding = () => {
  const { plan, state } = picture;
  write(by("phase"), state.paused ? "Paused by the user" : (words[state.phase] ?? state.phase));
  name(by("phase"), state.paused ? "paused" : "");
  write(by("run"), [plan?.title, plan?.id, plan && `scenario ${plan.scenario}`].filter(Boolean).join(" · "));
  const over = state.phase === "done";
  const elapsed = clock(Math.round(state.elapsed_s));
  const left = state.left_s > 0 ? `, about ${clock(Math.round(state.left_s))} left` : "";
  write(by("time"), over ? `took ${elapsed}` : elapsed + left);
  by("progress").value = over ? 1 : state.left_s > 0 ? state.elapsed_s / (state.elapsed_s + state.left_s) : 0;
  fill(by("tiles"), tiles(), createTile, showTile);
  showResult(state.result);
  const title = state.result ? "done" : state.paused ? "paused" : state.phase;
  const known = state.apdex == null ? "" : `Apdex ${score(state.result?.apdex ?? state.apdex)} · `;
  document.title = `${known}${title} · Plimsoll`;
};
