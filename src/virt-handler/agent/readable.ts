/** Text that came out of a guest: short, one line, nothing that a terminal or a log would act on. */

import { UNPRINTABLE } from '../../base/escape-unprintable.ts';

/** The text with `?` for what cannot be shown, cut to `longest` characters; undefined when it is no text. */
export function readable(value: unknown, longest: number): string | undefined {
  if (typeof value !== 'string') return undefined;
  return [...value.slice(0, 2 * longest).toWellFormed()].slice(0, longest).join('').replace(UNPRINTABLE, '?').replaceAll('\ufffd', '?');
}
