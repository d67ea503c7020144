// The lists: wait events of the database, and events of the run.

import { picture } from "./picture.js";
import { by, fill, make, write } from "./node.js";
import { clock } from "plimsoll/figures";

const seconds = 10;
const shown = 8;

const topWaits = () => {
  const samples = picture.seconds.slice(-seconds).filter((p) => p.db);
  const sum = new Map();
  for (const sample of samples) {
    for (const wait of sample.db.waits ?? []) {
      const event = `${wait.type} ${wait.event}`;
      sum.set(event, (sum.get(event) ?? 0) + wait.sessions / samples.length);
    }
  }
  const all = [...sum].sort((a, b) => b[1] - a[1]).slice(0, shown);
  const running = samples.reduce((s, p) => s + p.db.classes[0], 0) / (samples.length || 1);
  return samples.length ? [["no wait: running or ready to run", running], ...all] : [];
};

const createWait = () => {
  const row = make("tr");
  const head = make("th");
  head.scope = "row";
  const bar = make("td", "bar");
  bar.append(make("span", "fill"));
  row.append(head, make("td", "n"), bar);
  return row;
};

export const showWaits = () => {
  const all = topWaits();
  const most = Math.max(0.1, ...all.map(([, n]) => n));
  fill(by("waits"), all, createWait, (row, [event, sessions]) => {
    write(row.children[0], event);
    write(row.children[1], sessions.toFixed(2));
    row.children[2].firstElementChild.style.width = `${Math.round((100 * sessions) / most)}%`;
  });
  const db = picture.seconds.at(-1)?.db;
  const ended = picture.state.phase === "audit" || picture.state.phase === "done";
  const transactions = db?.transactions == null ? "–" : Math.round(db.transactions);
  write(
    by("waits-note"),
    db
      ? `${db.connections} connections; ${transactions} transactions per second.`
      : ended
        ? "The load has ended."
        : "No database is watched.",
  );
};

const toneWord = { alarm: "alarm: ", hand: "by the user: ", note: "" };

const entry = (e) => {
  const item = make("li", e.tone === "note" ? "" : e.tone);
  item.dataset.n = e.n;
  const at = make(
    "time",
    "",
    e.at_s == null ? new Date(e.time).toLocaleTimeString("en-GB") : clock(Math.round(e.at_s)),
  );
  at.dateTime = e.time;
  const text = make("span");
  text.append(make("span", "unseen", toneWord[e.tone] ?? ""), e.text);
  item.append(at, text);
  return item;
};

/** Adds new events. History is not read out; the list follows its end unless the user scrolled away. */
export const showEvents = (news, reset) => {
  const list = by("events");
  const box = by("events-box");
  const follows = box.scrollHeight - box.scrollTop - box.clientHeight < 24;
  if (reset) {
    box.setAttribute("aria-live", "off");
    list.replaceChildren();
  }
  for (const e of news) list.append(entry(e));
  while (list.children.length > picture.log.length) list.firstElementChild.remove();
  if (reset) setTimeout(() => box.setAttribute("aria-live", "polite"), 1000);
  if (follows && news.length) box.scrollTop = box.scrollHeight;
};
