/** Text and chords as the keys of a keyboard, for a screen: its guest sees keys, not letters. Pure. */

/** A key as noVNC sends it: what it means, and where it is on the keyboard. */
export type Key = { readonly keysym: number; readonly code: string };
/** Held one after the other, and let go the other way round. */
export type Chord = readonly Key[];

const SHIFT: Key = { keysym: 0xffe1, code: 'ShiftLeft' };
const CTRL: Key = { keysym: 0xffe3, code: 'ControlLeft' };
const ALT: Key = { keysym: 0xffe9, code: 'AltLeft' };
const ENTER: Key = { keysym: 0xff0d, code: 'Enter' };
const TAB: Key = { keysym: 0xff09, code: 'Tab' };
const F1 = 0xffbe;
const functionKey = (number: number): Key => ({ keysym: F1 + number - 1, code: `F${number}` });

/** What a browser or its desktop keeps for itself, or a keyboard of a phone does not have. */
export const CHORDS: readonly (readonly [label: string, chord: Chord])[] = [
  ['Ctrl+Alt+Del', [CTRL, ALT, { keysym: 0xffff, code: 'Delete' }]],
  ...[1, 2, 3, 4, 5, 6, 7].map((number) => [`Ctrl+Alt+F${number}`, [CTRL, ALT, functionKey(number)]] as const),
  ['Ctrl+Alt+Backspace', [CTRL, ALT, { keysym: 0xff08, code: 'Backspace' }]],
  ['Alt+Tab', [ALT, TAB]],
  ['Alt+F4', [ALT, functionKey(4)]],
  ['Windows key', [{ keysym: 0xffeb, code: 'MetaLeft' }]],
  ['Print Screen', [{ keysym: 0xff61, code: 'PrintScreen' }]],
  ['Esc', [{ keysym: 0xff1b, code: 'Escape' }]],
  ['Tab', [TAB]],
];

/** On a US keyboard: the code of a key, what it types, and what with Shift. */
const SIGNS: readonly (readonly [code: string, plain: string, shifted: string])[] = [
  ['Backquote', '`', '~'],
  ['Minus', '-', '_'],
  ['Equal', '=', '+'],
  ['BracketLeft', '[', '{'],
  ['BracketRight', ']', '}'],
  ['Backslash', '\\', '|'],
  ['Semicolon', ';', ':'],
  ['Quote', "'", '"'],
  ['Comma', ',', '<'],
  ['Period', '.', '>'],
  ['Slash', '/', '?'],
  ['Space', ' ', ''],
  ...[...'0123456789'].map((digit, index) => [`Digit${digit}`, digit, ')!@#$%^&*('[index] ?? ''] as const),
  ...[...'abcdefghijklmnopqrstuvwxyz'].map((letter) => [`Key${letter.toUpperCase()}`, letter, letter.toUpperCase()] as const),
];

const BY_CHARACTER: ReadonlyMap<string, Chord> = new Map<string, Chord>([
  ['\n', [ENTER]],
  ['\t', [TAB]],
  ...SIGNS.flatMap(([code, plain, shifted]): [string, Chord][] => [
    [plain, [{ keysym: plain.charCodeAt(0), code }]],
    ...(shifted === '' ? [] : ([[shifted, [SHIFT, { keysym: shifted.charCodeAt(0), code }]]] as [string, Chord][])),
  ]),
]);

export type Typing = {
  readonly chords: readonly Chord[];
  /** What no key of that keyboard types, each once. */
  readonly without: readonly string[];
};

export function deriveTyping(text: string): Typing {
  const characters = [...text.replaceAll(/\r\n?/g, '\n')];
  const without = new Set(characters.filter((each) => !BY_CHARACTER.has(each)));
  return {
    chords: characters.flatMap((each) => [BY_CHARACTER.get(each) ?? []].filter((chord) => chord.length > 0)),
    without: [...without],
  };
}

/** What is sent for a chord: each key down, then each up. */
export function strokesOf(chord: Chord): { readonly key: Key; readonly isDown: boolean }[] {
  return [...chord.map((key) => ({ key, isDown: true })), ...chord.toReversed().map((key) => ({ key, isDown: false }))];
}
