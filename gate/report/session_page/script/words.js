const MOST = 2_000_000; // pairs of words that are compared; above it the middle counts as replaced

/** @typedef {["same" | "was" | "now", string]} Piece */

/**
 * How one text became the other, word by word: by their longest common subsequence.
 * @param {string} was
 * @param {string} now
 * @returns {Piece[]}
 */
export function diffWords(was, now) {
  const [a, b] = [split(was), split(now)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const tail = a.slice(a.length - end);
  const middle = align(a.slice(start, a.length - end), b.slice(start, b.length - end));
  return join([["same", a.slice(0, start).join("")], ...middle, ["same", tail.join("")]]);
}

/** @param {string} text */
const split = (text) => text.match(/⟨[A-Z][A-Z0-9+]*⟩|\s+|[\p{L}\p{N}\p{M}_]+|./gsu) ?? [];

/**
 * @param {string[]} a
 * @param {string[]} b
 * @returns {Piece[]}
 */
function align(a, b) {
  if (a.length * b.length > MOST) return [["was", a.join("")], ["now", b.join("")]];
  const width = b.length + 1;
  const length = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const [down, right] = [length[(i + 1) * width + j], length[i * width + j + 1]];
      length[i * width + j] =
        a[i] === b[j] ? length[(i + 1) * width + j + 1] + 1 : Math.max(down, right);
    }
  }
  /** @type {Piece[]} */
  const pieces = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      pieces.push(["same", a[i++]]);
      j++;
    } else if (length[(i + 1) * width + j] >= length[i * width + j + 1]) pieces.push(["was", a[i++]]);
    else pieces.push(["now", b[j++]]);
  }
  return [...pieces, ["was", a.slice(i).join("")], ["now", b.slice(j).join("")]];
}

/**
 * Neighbours of one kind as one piece; empty ones are left out.
 * @param {Piece[]} pieces
 * @returns {Piece[]}
 */
function join(pieces) {
  /** @type {Piece[]} */
  const joined = [];
  for (const [kind, text] of pieces) {
    const last = joined.at(-1);
    if (last && last[0] === kind) last[1] += text;
    else if (text) joined.push([kind, text]);
  }
  return joined;
}
