const ABSENT = "–";

/** @param {number | null} value @param {string} unit */
export function figure(value, unit) {
  if (value === null || value === undefined) return ABSENT;
  if (unit === "ms") return `${number(value, value < 10 ? 1 : 0)} ms`;
  if (unit === "USD") return `$${value && Math.abs(value) < 0.01 ? value.toPrecision(2) : value.toFixed(2)}`;
  if (unit === "tokens") return number(value, 0);
  return number(value, Number.isInteger(value) && unit !== "share" ? 0 : 2);
}

/** @param {number} value @param {number} digits */
const number = (value, digits) =>
  value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });

/** @param {number | null} passed @param {number | null} rounds */
export const share = (passed, rounds) => (rounds ? `${passed}/${rounds}` : ABSENT);

/** @param {number} amount @param {string} what */
export const count = (amount, what) => `${amount.toLocaleString("en-US")} ${what}${amount === 1 ? "" : "s"}`;
