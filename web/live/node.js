// Helpers for the page's elements. Unchanged text is not written again: it would flicker and be read out twice.

export const by = (id) => document.getElementById(id);

export const make = (tag, className = "", text) => {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
};

export const write = (node, text) => {
  if (node.textContent !== text) node.textContent = text;
};

export const name = (node, className) => {
  if (node.className !== className) node.className = className;
};

/** Keeps as many children as there are items; creates missing ones and updates all. */
export const fill = (parent, items, create, update) => {
  while (parent.children.length > items.length) parent.lastElementChild.remove();
  while (parent.children.length < items.length) parent.append(create());
  items.forEach((item, i) => update(parent.children[i], item));
};
