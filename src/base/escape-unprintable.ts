/** Text that somebody else wrote (a guest, the author of an object), made harmless for whoever shows it. */

/** Control and format characters (colours, cursor, other writing directions) and separators of lines that no terminal shows as such. */
export const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Lines and columns are layout; a carriage return is, when it ends a line. */
const UNPRINTABLE_IN_TEXT = /(?!\n|\t|\r\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** The text with `\u001b` and the like for what a terminal would act on. JSON stays the same JSON. */
export function escapeUnprintable(text: string): string {
  return text.replace(UNPRINTABLE_IN_TEXT, escaped);
}

/** The same for what has to stay on one line, as a cell of a table. */
export function escapeToOneLine(text: string): string {
  return text.replace(UNPRINTABLE, escaped);
}

/** By units, as JSON writes them: a character beyond the first 65,536 has two. */
function escaped(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}
