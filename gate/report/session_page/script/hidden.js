import { element } from "./elements.js";

// What stands in blocks for hidden characters: gate/text/hidden.py has put it there.
const SIGNS =
  /⟨(?:U\+[0-9A-F]{4,6}|NBSP|SHY|ZWSP|ZWNJ|ZWJ|LRM|RLM|NNBSP|WJ|BOM)⟩|[\u2400-\u2421]/gu;
const CONTROLS = /(?![\n\t])\p{Cc}/gu; // JSON has escaped them, so they come as they were

/**
 * The text with a sign for each hidden character, for places that take text only.
 * @param {string} text
 */
export const plain = (text) =>
  text.replace(CONTROLS, (sign) => String.fromCharCode(0x2400 + sign.charCodeAt(0)));

/** The reverse, for what somebody pastes. @param {string} text */
export const unpicture = (text) =>
  text.replace(/[\u2400-\u241f]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) - 0x2400));

/**
 * Nodes that show the text, the signs in it as marks.
 * @param {string} text
 * @returns {(Node | string)[]}
 */
export function reveal(text) {
  const shown = plain(text);
  const nodes = [];
  let end = 0;
  for (const found of shown.matchAll(SIGNS)) {
    if (found.index > end) nodes.push(shown.slice(end, found.index));
    nodes.push(element("span", { class: "hid", title: "a hidden character" }, found[0]));
    end = found.index + found[0].length;
  }
  if (end < shown.length) nodes.push(shown.slice(end));
  return nodes;
}
