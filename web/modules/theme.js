// The page's colours, for what is drawn on a canvas and so does not follow the style sheet.

const root = document.documentElement;
const dark = matchMedia("(prefers-color-scheme: dark)");
const listeners = [];

/** A custom property of the style sheet, as it is now. */
export const colour = (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim();

/** Calls back when the colours have changed: the system's scheme, somebody's choice, or paper. */
export const onTheme = (redraw) => listeners.push(redraw);

const changed = () => listeners.forEach((redraw) => redraw());

/** "light", "dark", or "system"; for a page that links to the dark colours as #dark. */
export const setTheme = (choice) => {
  const media = { light: "not all", dark: "all", system: "(prefers-color-scheme: dark)" }[choice];
  document.getElementById("dark").media = media;
  root.style.colorScheme = { light: "light", dark: "dark" }[choice] ?? "light dark"; // of scroll bars and fields
  changed();
};

dark.addEventListener("change", changed);
addEventListener("beforeprint", () => { root.dataset.theme = "light"; changed(); });
addEventListener("afterprint", () => { delete root.dataset.theme; changed(); });
