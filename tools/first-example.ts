/** The first manifest of a kind in examples/: what its schema requires and no more. It is written once, and then belongs to whoever has more to show. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';
import { apiVersionOf } from '../src/api/resource.ts';
import { type StructuralSchema, structural } from '../src/api/schema/structural.ts';
import { isObject, type JsonObject } from '../src/base/json.ts';
import type { FullKind, KindFile } from './kind-files.ts';

const FOLDER = 'examples';

/** Manifests for the kinds that have none yet, by their path. */
export function firstExamples(kinds: readonly KindFile[]): [path: string, text: string][] {
  const root = resolve(import.meta.dirname, '..', FOLDER);
  const files = readdirSync(root).filter((name) => name.endsWith('.yaml'));
  const shown = files.flatMap((name) => parseAllDocuments(readFileSync(join(root, name), 'utf8')).map((each) => each.get('kind')));
  return kinds
    .filter(({ record }) => !shown.includes(record.kind))
    .map((kind) => [`${FOLDER}/${basename(kind.file, '.ts')}.yaml`, firstExample(kind)]);
}

/** The manifest as text. */
export function firstExample({ record, schemas }: FullKind): string {
  const spec = leastOf(structural(schemas.spec));
  const object = { apiVersion: apiVersionOf(record), kind: record.kind, metadata: { name: 'example' }, spec };
  return `# ${record.description}\n${stringify(object, { lineWidth: 0, aliasDuplicateObjects: false })}`;
}

/** The least that a schema lets pass, or nearly: patterns are not looked at. */
function leastOf(schema: StructuralSchema): unknown {
  const { type, enum: words, minimum, items, minItems } = schema;
  if (Array.isArray(words)) return words[0];
  if (schema['x-kubernetes-int-or-string']) return '1';
  switch (type) {
    case 'boolean':
      return false;
    case 'integer':
    case 'number':
      return minimum ?? 1;
    case 'string':
      return schema['format'] === 'date-time' ? '2026-01-01T00:00:00Z' : 'example';
    case 'array':
      return isObject(items) ? Array.from({ length: Number(minItems ?? 0) }, () => leastOf(items)) : [];
    default:
      return leastObject(schema);
  }
}

function leastObject({ properties, required }: StructuralSchema): JsonObject {
  if (!isObject(properties) || !Array.isArray(required)) return {};
  return Object.fromEntries(required.map((name: string) => [name, isObject(properties[name]) ? leastOf(properties[name]) : {}]));
}
