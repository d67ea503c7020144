// Controls of the run, by button and by key. The picture shows whether a command took effect.

import { picture } from "./picture.js";
import { by, write } from "./node.js";
import { command } from "./stream.js";
import { setTheme } from "plimsoll/theme";

const answer = (text, bad = false) => {
  write(by("answer"), text);
  by("answer").className = bad ? "bad" : "";
};

const send = async (name, body, done) => {
  const error = await command(name, body);
  answer(error || done, Boolean(error));
};

const atWork = () => ["ramp", "steady"].includes(picture.state?.phase);

const pause = () =>
  picture.state.paused ? send("resume", {}, "Resuming") : send("pause", {}, "Pausing: operations under way still end");

const setUsers = (n) => {
  const most = picture.plan.users_most;
  if (!Number.isInteger(n) || n < 1 || n > most) return answer(`Users: a whole number between 1 and ${most}`, true);
  by("users").value = n;
  return send("users", { users: n }, `${n} users requested`);
};

const change = (part) => {
  const now = picture.state.wanted;
  setUsers(Math.max(1, now + Math.sign(part) * Math.max(1, Math.round(now * Math.abs(part)))));
};

const choices = ["system", "light", "dark"];

const theme = (choice) => {
  by("theme").value = choice;
  localStorage.setItem("plimsoll-theme", choice);
  setTheme(choice);
};

const nextTheme = () => theme(choices[(choices.indexOf(by("theme").value) + 1) % choices.length]);

const otherSpan = () => {
  const [window, whole] = document.querySelectorAll('input[name="span"]');
  (window.checked ? whole : window).click();
};

const keys = {
  p: () => pause(),
  "+": () => change(0.1),
  "=": () => change(0.1),
  "-": () => change(-0.1),
  u: () => by("users").focus(),
  e: () => by("end").click(),
  w: otherSpan,
  t: nextTheme,
  "?": () => by("help").showModal(),
};
const needWork = new Set(["p", "+", "=", "-", "u", "e"]);
const needUsers = new Set(["+", "=", "-", "u"]);

const press = (event) => {
  if (event.key === "?" && !by("help").open && !event.target.closest("input[type=number]")) {
    event.preventDefault();
    return by("help").showModal();
  }
  if (
    !by("shortcuts").checked ||
    event.ctrlKey ||
    event.altKey ||
    event.metaKey ||
    event.target.closest("input[type=number], select, dialog[open]")
  )
    return;
  const does = keys[event.key];
  if (!does || (needWork.has(event.key) && !atWork()) || (needUsers.has(event.key) && picture.plan.open)) return;
  event.preventDefault();
  does();
};

export const startControls = () => {
  by("pause").addEventListener("click", pause);
  by("fewer").addEventListener("click", () => change(-0.1));
  by("more").addEventListener("click", () => change(0.1));
  const set = () => setUsers(by("users").valueAsNumber);
  by("set").addEventListener("click", set);
  by("users").addEventListener("keydown", (event) => {
    if (event.key === "Enter") set();
    if (event.key === "Escape") by("set").focus();
  });
  by("end").addEventListener("click", () => by("end-dialog").showModal());
  by("end-no").addEventListener("click", () => by("end-dialog").close());
  by("end-yes").addEventListener("click", () => {
    by("end-dialog").close();
    send("end", {}, "Ending");
  });
  by("help-open").addEventListener("click", () => by("help").showModal());
  by("help-close").addEventListener("click", () => by("help").close());
  by("theme").addEventListener("change", () => theme(by("theme").value));
  theme(choices.includes(localStorage.getItem("plimsoll-theme")) ? localStorage.getItem("plimsoll-theme") : "system");
  by("shortcuts").checked = localStorage.getItem("plimsoll-shortcuts") !== "off";
  by("shortcuts").addEventListener("change", () =>
    localStorage.setItem("plimsoll-shortcuts", by("shortcuts").checked ? "on" : "off"),
  );
  addEventListener("keydown", press);
};

export const showControls = () => {
  const works = atWork();
  const { plan, state } = picture;
  by("pause").disabled = by("end").disabled = !works;
  for (const id of ["fewer", "users", "set", "more"]) by(id).disabled = !works || plan.open;
  write(by("pause"), state.paused ? "Resume" : "Pause");
  if (!plan) return;
  by("users").max = plan.users_most;
  if (document.activeElement !== by("users")) by("users").value = state.wanted;
};
