/** The causes of a refused object, in the words kubectl users know. */
import type { StatusCause } from './errors.ts';

const LONGEST_SHOWN = 1_000;

/** The field is missing. */
export function requiredCause(field: string, why = ''): StatusCause {
  return { reason: 'FieldValueRequired', message: why === '' ? 'Required value' : `Required value: ${why}`, field };
}

/** The value breaks a rule. */
export function invalidCause(field: string, value: unknown, why: string): StatusCause {
  return { reason: 'FieldValueInvalid', message: `Invalid value: ${shown(value)}: ${why}`, field };
}

/** The value is of another type than the field. */
export function typeCause(field: string, value: unknown, why: string): StatusCause {
  return { reason: 'FieldValueTypeInvalid', message: `Invalid value: ${shown(value)}: ${why}`, field };
}

/** The value is not one of the few that are known. */
export function unsupportedCause(field: string, value: unknown, supported: readonly unknown[]): StatusCause {
  const message = `Unsupported value: ${shown(value)}: supported values: ${supported.map(shown).join(', ')}`;
  return { reason: 'FieldValueNotSupported', message, field };
}

/** The value is there twice where it must be unique. */
export function duplicateCause(field: string, value: unknown): StatusCause {
  return { reason: 'FieldValueDuplicate', message: `Duplicate value: ${shown(value)}`, field };
}

/** The field may not be set here. */
export function forbiddenCause(field: string, why: string): StatusCause {
  return { reason: 'FieldValueForbidden', message: `Forbidden: ${why}`, field };
}

/** The text is too long. */
export function tooLongCause(field: string, limit: number): StatusCause {
  return { reason: 'FieldValueTooLong', message: `Too long: may not be more than ${limit} bytes`, field };
}

/** There are too many items. */
export function tooManyCause(field: string, count: number, limit: number): StatusCause {
  return { reason: 'FieldValueTooMany', message: `Too many: ${count}: must have at most ${limit} items`, field };
}

/** `spec.size: Invalid value: 500: ...`: how a cause reads in the message of a Status. */
export function causeText({ field, message }: StatusCause): string {
  return field === '' ? message : `${field}: ${message}`;
}

/** All causes as the last part of a Status message: one as it is, several in brackets. */
export function causesText(causes: readonly StatusCause[]): string {
  const texts = [...new Set(causes.map(causeText))];
  return texts.length === 1 ? texts.join('') : `[${texts.join(', ')}]`;
}

/** A value as a message shows it: whole, unless no person would read it to its end. */
function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(cutText(value));
  return value === undefined ? 'null' : cutText(JSON.stringify(value));
}

/** What somebody sent may have megabytes, and an answer repeats it more than once. */
export function cutText(text: string): string {
  return text.length <= LONGEST_SHOWN ? text : `${text.slice(0, LONGEST_SHOWN)}... (${text.length} characters)`;
}
