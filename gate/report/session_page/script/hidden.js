import { element } from "./elements.js";

// What nobody sees, or what changes how its neighbours are shown: controls but for line ends and
// tabs, format characters, fillers, halves of characters, private and unassigned ones.
const HIDDEN =
  /\u034f|\u17b4|\u17b5|\p{Variation_Selector}|[\p{Cf}\p{Co}\p{Cn}\p{Cs}\u115f\u1160\u2028\u2029\u3164\uffa0]|(?![\n\t])\p{Cc}/gu;
/** @type {Record<string, string>} */
const NAMES = {
  "\u00ad": "SHY",
  "\u200b": "ZWSP",
  "\u200c": "ZWNJ",
  "\u200d": "ZWJ",
  "\u200e": "LRM",
  "\u200f": "RLM",
  "\ufeff": "BOM",
};

/**
 * `␛` for an escape character, `⟨ZWSP⟩` and `⟨U+202E⟩` for what has no sign of its own.
 * @param {string} character
 */
export function nameHidden(character) {
  const code = /** @type {number} */ (character.codePointAt(0));
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return "␡";
  const name = NAMES[character] ?? `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  return `⟨${name}⟩`;
}

/**
 * The text with hidden characters named, for places that take text only.
 * @param {string} text
 */
export const plain = (text) => text.replace(HIDDEN, nameHidden);

/**
 * Nodes that show the text, its hidden characters as marks.
 * @param {string} text
 * @returns {(Node | string)[]}
 */
export function reveal(text) {
  const nodes = [];
  let end = 0;
  for (const found of text.matchAll(HIDDEN)) {
    if (found.index > end) nodes.push(text.slice(end, found.index));
    nodes.push(element("span", { class: "hid", title: "a hidden character" }, nameHidden(found[0])));
    end = found.index + found[0].length;
  }
  if (end < text.length) nodes.push(text.slice(end));
  return nodes;
}
