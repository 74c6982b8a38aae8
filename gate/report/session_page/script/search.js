import { BlockReader } from "./blocks.js";
import { stateOf } from "./cases.js";
import { unpicture } from "./hidden.js";

/** @typedef {import("./blocks.js").Index} Index */

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const NEWLINE = 10;
const [CAPITAL_A, CAPITAL_Z, TO_SMALL] = [65, 90, 32];

/** Words, in which what stands for a control character is one again. @param {string} query */
export const splitQuery = (query) =>
  query.toLowerCase().split(/\s+/).filter(Boolean).map(unpicture);

/**
 * What is known of a case without opening its block.
 * @param {Index} index
 * @param {number} at
 */
export function headText(index, at) {
  const parts = [index.id[at], index.codes[at], index.categories[index.category[at]]];
  return [...parts, index.modes[index.mode[at]], stateOf(index, at)].join("\n").toLowerCase();
}

/**
 * Looks into question, expected answer and answers of these cases, block by block.
 * @param {Index} index
 * @param {string[]} words all of which a case has
 * @param {number[]} among
 * @param {(found: number[], done: number, all: number) => boolean} tell called after each block; false ends the search
 */
export async function searchTexts(index, words, among, tell) {
  /** @type {Map<number, [number, number][]>} */
  const wanted = new Map();
  for (const at of among) {
    for (const [block, place] of index.places[at]) {
      const cases = wanted.get(block) ?? [];
      wanted.set(block, cases);
      cases.push([at, place]);
    }
  }
  const signs = new Map(words.map((word) => [word, signsOf(word)]));
  const reader = new BlockReader();
  let done = 0;
  for (const [block, cases] of wanted) {
    const lines = splitLines(await reader.read(`block-${block}`));
    const found = cases.filter(([at, place]) => {
      const head = headText(index, at);
      const rest = words.filter((word) => !head.includes(word));
      return rest.every((word) => mayHave(lines[place], signs.get(word) ?? [])) && hasWords(lines[place], rest);
    });
    done += 1;
    if (!tell(found.map(([at]) => at), done, wanted.size)) return;
  }
}

/**
 * What the bytes of a line have if it has the word: as it is written there, plain or after a
 * backslash, the parts that are ASCII. Others may have capitals of another length.
 * @param {string} word
 */
function signsOf(word) {
  const written = JSON.stringify(word).slice(1, -1);
  const parts = (written === word ? [word] : [word, written]).map((form) => form.split(/[^\0-\x7f]+/));
  return parts.map((form) => form.map((part) => encoder.encode(part)));
}

/** @param {Uint8Array} bytes */
function splitLines(bytes) {
  const lines = [];
  for (let start = 0, end = 0; end >= 0; start = end + 1) {
    end = bytes.indexOf(NEWLINE, start);
    lines.push(bytes.subarray(start, end < 0 ? bytes.length : end));
  }
  return lines;
}

/**
 * Whether the texts of a case may have a word: seen in the bytes, of which most cases need no more.
 * @param {Uint8Array} line
 * @param {Uint8Array[][]} signs
 */
const mayHave = (line, signs) => signs.some((parts) => parts.every((part) => hasBytes(line, part)));

/**
 * Capitals of the line count as small letters.
 * @param {Uint8Array} line
 * @param {Uint8Array} part
 */
function hasBytes(line, part) {
  for (let at = 0; at <= line.length - part.length; at++) {
    let same = 0;
    while (same < part.length) {
      const byte = line[at + same];
      const small = byte >= CAPITAL_A && byte <= CAPITAL_Z ? byte + TO_SMALL : byte;
      if (small !== part[same]) break;
      same += 1;
    }
    if (same === part.length) return true;
  }
  return false;
}

/**
 * @param {Uint8Array} line the texts of a case
 * @param {string[]} words
 */
function hasWords(line, words) {
  if (!words.length) return true;
  /** @type {import("./blocks.js").Texts} */
  const texts = JSON.parse(decoder.decode(line).toLowerCase()); // its keys and escapes have no capitals
  const { question, expected, was, answers } = texts;
  const parts = [question, JSON.stringify(expected), was?.text, ...answers.flat()];
  return words.every((word) => parts.some((part) => part?.includes(word)));
}
