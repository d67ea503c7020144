// The page's colours for canvases, which do not follow the style sheet.

const root = document.documentElement;
const dark = matchMedia("(prefers-color-scheme: dark)");
const listeners = [];

/** The current value of a custom property of the style sheet. */
export const colour = (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim();

/** Calls back when the colours have changed: by the system, the user, or printing. */
export const onTheme = (redraw) => listeners.push(redraw);

const changed = () => listeners.forEach((redraw) => redraw());

/** Sets "light", "dark" or "system", for a page that links to the dark colours as #dark. */
export const setTheme = (choice) => {
  const media = { light: "not all", dark: "all", system: "(prefers-color-scheme: dark)" }[choice];
  document.getElementById("dark").media = media;
  root.style.colorScheme = { light: "light", dark: "dark" }[choice] ?? "light dark"; // of scroll bars and fields
  changed();
};

dark.addEventListener("change", changed);
addEventListener("beforeprint", () => {
  root.dataset.theme = "light";
  changed();
});
addEventListener("afterprint", () => {
  delete root.dataset.theme;
  changed();
});
