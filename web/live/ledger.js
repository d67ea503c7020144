// The ledger: where the time of the database's sessions goes, in all and by operation, and what takes it.

import { picture } from "./picture.js";
import { by, fill, make, name, write } from "./node.js";
import { count, percent } from "plimsoll/figures";

// Classes that have a colour of their own; the rest share one. In this order everywhere, so that bars can be compared.
const coloured = ["cpu", "running", "run queue", "lock", "latch", "log", "io", "client"];
const rank = (line) => {
  const i = coloured.indexOf(line.class);
  return i < 0 ? coloured.length : i;
};
const tone = (line) => (rank(line) < coloured.length ? line.class.replace(" ", "-") : "rest");
const ordered = (lines) => [...lines].sort((a, b) => rank(a) - rank(b));
const share = (x) => percent(x).replace("unavailable", "–");
const waits = new Set(["cpu", "running", "unexplained"]);

/** The three waits, or states, that took most. */
const top = (lines) =>
  lines
    .flatMap((line) =>
      !waits.has(line.class) && line.events?.length ? line.events : [{ name: line.name, share: line.share }],
    )
    .sort((a, b) => b.share - a.share)
    .slice(0, 3)
    .map((event) => `${event.name} ${share(event.share)}`)
    .join(", ");

const seconds = (s) => (s < 10 ? `${s.toFixed(1)} s` : `${count(s)} s`);

const createKey = () => make("li");
const showKey = (item, line) => {
  write(item, line.name);
  name(item, `tone ${tone(line)}`);
};

const createPart = () => make("span");
const showPart = (part, line) => {
  name(part, `part ${tone(line)}`);
  part.style.flexGrow = line.share;
  part.title = `${line.name} ${share(line.share)}`;
};

const createRow = () => {
  const row = make("tr");
  const head = make("th");
  head.scope = "row";
  const cell = make("td", "shares");
  const bar = make("div", "stack");
  bar.setAttribute("role", "img");
  cell.append(bar);
  row.append(head, make("td", "n"), cell, make("td", "top"));
  return row;
};

const showRow = (row, ledger) => {
  const titles = new Map(picture.plan.operations.map((op) => [op.id, op.title]));
  write(row.children[0], ledger.id ? (titles.get(ledger.id) ?? ledger.id) : "all sessions");
  write(row.children[1], seconds(ledger.total_s));
  const lines = ordered(ledger.lines);
  const bar = row.children[2].firstElementChild;
  bar.setAttribute("aria-label", lines.map((line) => `${line.name} ${share(line.share)}`).join(", "));
  fill(bar, lines, createPart, showPart);
  write(row.children[3], top(ledger.lines));
};

const createFinding = () => {
  const item = make("li");
  const head = make("p", "title");
  head.append(make("span", "price"), " ", make("span"));
  const next = make("p", "next");
  next.append("next: ", make("span"));
  item.append(head, make("p", "note"), next);
  return item;
};

const showFinding = (item, finding) => {
  name(item, finding.level);
  const [head, seen, next] = item.children;
  write(head.children[0], finding.price == null ? "price not known" : share(finding.price));
  write(head.children[1], finding.title);
  write(seen, [finding.seen, finding.why].filter(Boolean).join(" · "));
  next.hidden = !finding.next;
  write(next.lastElementChild, finding.next ?? "");
};

export const showLedger = () => {
  const d = picture.diagnosis;
  const body = by("ledger-body");
  if (!d || body.dataset.at === String(d.lasted_s)) return;
  body.dataset.at = d.lasted_s;
  const busy = d.all.total_s > 0;
  const rows = busy ? [d.all, ...d.operations.filter((o) => o.total_s > 0)] : [];
  const classes = new Map(rows.flatMap((r) => r.lines).map((line) => [tone(line), line]));
  const rest = classes.get("rest");
  if (rest) classes.set("rest", { ...rest, name: "other" });
  by("ledger-table").hidden = !busy;
  by("findings-box").hidden = false;
  fill(by("ledger-key"), ordered([...classes.values()]), createKey, showKey);
  fill(body, rows, createRow, showRow);
  fill(by("findings"), d.findings, createFinding, showFinding);
  write(
    by("findings-note"),
    d.findings.length
      ? `${d.healthy} other causes were checked and are not the problem.`
      : `No cause of lost time found so far; ${d.healthy} were checked.`,
  );
  write(
    by("ledger-note"),
    busy
      ? `${count(d.samples)} samples in ${count(d.lasted_s)} s; updated every few seconds.`
      : "No session was active so far.",
  );
};
