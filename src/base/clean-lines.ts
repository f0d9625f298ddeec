/** Bytes of a serial port as lines of text. A guest may print anything; what reaches the terminal or a file is plain. */
import { UNPRINTABLE } from './escape-unprintable.ts';

export type LineReader = {
  /** The lines that are complete now. */
  push(bytes: Uint8Array): string[];
  /** What came after the last line end. */
  rest(): string[];
};

/** What a terminal acts on, by ECMA-48: control sequences, strings of the terminal's own, and the short ones. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const SEQUENCES = /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|$)|\x1b[ -/]*[0-~]/g;

/** A guest that never ends its line still gets printed. */
const MAX_LINE = 64 * 1024;

export function createLineReader(): LineReader {
  const decoder = new TextDecoder();
  let begun = '';
  return {
    push(bytes) {
      const parts = (begun + decoder.decode(bytes, { stream: true })).split('\n');
      begun = parts.pop() ?? '';
      if (begun.length > MAX_LINE) {
        parts.push(begun);
        begun = '';
      }
      return parts.map(cleanLine);
    },
    rest() {
      const line = cleanLine(begun);
      begun = '';
      return line === '' ? [] : [line];
    },
  };
}

/** What a terminal would show of this line: text that was written over by a carriage return is gone, and so is everything invisible. */
function cleanLine(line: string): string {
  const written = line.replace(/\r+$/, '').split('\r').at(-1) ?? '';
  return plainText(written);
}

/** Text without what a terminal would act on: a guest colours what it prints, and nobody wants to read that as escapes. */
export function plainText(text: string): string {
  return text.replace(SEQUENCES, '').replace(UNPRINTABLE, (character) => (character === '\t' ? character : ''));
}
