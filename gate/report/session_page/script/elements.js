/** @typedef {Node | string | null | undefined | false} Part */

/**
 * An element with text and children; text is never read as HTML.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} name
 * @param {Record<string, string | boolean | number | ((event: any) => void)>} [given] attributes; a function listens
 * @param {...(Part | Part[])} parts
 * @returns {HTMLElementTagNameMap[T]}
 */
export function element(name, given = {}, ...parts) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(given)) {
    if (typeof value === "function") made.addEventListener(key, value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false) made.setAttribute(key, String(value));
  }
  for (const part of parts.flat()) {
    if (part || part === "") made.append(part);
  }
  return made;
}

/**
 * The element of this id, of this kind: the page is made with it.
 * @param {string} id
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found;
}
