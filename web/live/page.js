// The dashboard: shows updates of the stream, at most once a frame and not at all while the page is hidden.

import { picture, view } from "./picture.js";
import { listen } from "./stream.js";
import { showStanding } from "./standing.js";
import { showHeat, startHeat } from "./heat.js";
import { showCharts, showFigures } from "./charts.js";
import { showEvents, showWaits } from "./lists.js";
import { showLedger } from "./ledger.js";
import { showControls, startControls } from "./controls.js";
import { by, name, write } from "./node.js";

let waiting = false;

const span = () => document.querySelector('input[name="span"]:checked').value;

const show = () => {
  waiting = false;
  if (!picture.state) return;
  showStanding();
  showControls();
  if (picture.plan) {
    const shown = view(span());
    showHeat(shown);
    showCharts(shown);
    showFigures(shown);
    showWaits();
    showLedger();
  }
  document.documentElement.dataset.seen = picture.n;
};

const soon = () => {
  if (waiting || document.hidden) return;
  waiting = true;
  requestAnimationFrame(show);
};

const lines = {
  on: ["connected", "line on"],
  lost: ["connection lost, trying again", "line off"],
  over: ["the run is over; this page keeps its figures", "line"],
  refused: ["refused: this page has the token of another run", "line off"],
};

const tell = (how) => {
  write(by("line"), lines[how][0]);
  name(by("line"), lines[how][1]);
};

startControls();
startHeat();
for (const input of document.querySelectorAll('input[name="span"]')) input.addEventListener("change", soon);
by("figures").addEventListener("toggle", soon);
document.addEventListener("visibilitychange", soon);
listen((delta) => {
  showEvents(delta.log ?? [], delta.reset);
  soon();
}, tell);
