/**
 * The only ways in which text of a user gets into QEMU's arguments: as a value inside JSON, or in the key=value syntax with its commas
 * doubled. What QEMU could not take as a value is refused before, so a name can never become an option.
 */
import { UserError } from '../../base/errors.ts';
import { isPrintable } from './limits.ts';
import type { Setting } from './machine-model.ts';

/** A fault of the manifest that admission should have refused; `field` is named as the user wrote it. */
export function specError(code: string, field: string, why: string, fix?: string): UserError {
  return new UserError(code, `${field} cannot be used`, { why, fix });
}

/** Text for a place where QEMU takes anything printable. */
export function printable(text: string, field: string): string {
  if (!isPrintable(text)) throw specError('TEXT_INVALID', field, 'it contains control characters');
  return text;
}

/** Text for a place where only some spellings make sense. */
export function matching(text: string, { field, pattern, why }: { field: string; pattern: RegExp; why: string }): string {
  if (!pattern.test(text)) throw specError('TEXT_INVALID', field, `${why}, found ${JSON.stringify(text.slice(0, 64))}`);
  return text;
}

/** A value in QEMU's key=value syntax, where a comma is written twice. */
export function optionValue(text: string): string {
  return text.replaceAll(',', ',,');
}

/** An option and its value, as a part of a machine; for words of ours alone. */
export function setting(...words: string[]): Setting {
  return { part: 'setting', words };
}
