// Ends of lines, and what moves a terminal's cursor or changes its colours: C0, DEL and C1
// controls, among them ESC and the 8-bit CSI; and marks that reverse the order of what is shown
// (the "Trojan source" attack), and halves of pairs.
const unsafe = new RegExp(
  String.raw`[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\p{Cs}]`,
  "u",
);
const allUnsafe = new RegExp(unsafe.source, "gu");
// Faster than the other one, and true of nearly everything.
const printable = /^[ -~]*$/;
const breaks = /[\t-\r\u0085\u2028\u2029]/;

/**
 * Makes text safe for one line of a log: line breaks become spaces, and other controls escapes such
 * as `\x1b`. So text cannot forge a line or control the terminal of a reader.
 */
export function oneLine(text: string): string {
  if (printable.test(text) || !unsafe.test(text)) return text;
  return text.replace(allUnsafe, (character) => {
    if (breaks.test(character)) return " ";
    const code = character.charCodeAt(0);
    return code < 256
      ? `\\x${code.toString(16).padStart(2, "0")}`
      : `\\u${code.toString(16).padStart(4, "0")}`;
  });
}

/** Does what {@link oneLine} does, with each run of white space as one space. */
export function oneCompactLine(text: string): string {
  return oneLine(text).replace(/\s{2,}/g, " ");
}
