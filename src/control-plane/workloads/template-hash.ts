/** A short name for a template: the same for the same content, in whatever order its fields come. Pure. */
import { isObject } from '../../base/json.ts';
import { encodedHash } from './made-names.ts';

const LENGTH = 10;

/** `collisionCount` tells templates apart whose hashes are the same. */
export function templateHash(template: unknown, collisionCount: number | undefined): string {
  return encodedHash(`${canonical(template)} ${collisionCount ?? ''}`, LENGTH);
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value).filter(([, each]) => each !== undefined);
  return `{${fields
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, each]) => `${JSON.stringify(key)}:${canonical(each)}`)
    .join(',')}}`;
}
