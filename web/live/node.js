// Small help with the page's elements; nothing is written that stands there already, so that nothing flickers or is read twice.

export const by = (id) => document.getElementById(id);

export const make = (tag, className = "", text) => {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
};

export const write = (node, text) => { if (node.textContent !== text) node.textContent = text; };

export const name = (node, className) => { if (node.className !== className) node.className = className; };

/** Keeps as many children as there are items: made once, filled as often as needed. */
export const fill = (parent, items, create, update) => {
  while (parent.children.length > items.length) parent.lastElementChild.remove();
  while (parent.children.length < items.length) parent.append(create());
  items.forEach((item, i) => update(parent.children[i], item));
};
