/**
 * Turns the OpenAPI v3 documents that Kubernetes publishes into the table of built-in kinds the API server works from.
 * Usage: node tools/built-in-schemas/generate.ts INPUT_DIR. Facts only: names, types, defaults, keys; the prose stays where it was written.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

type Node = { readonly [key: string]: unknown };
type Gvk = { readonly group: string; readonly version: string; readonly kind: string };

const OUTPUT = join(import.meta.dirname, '../../src/control-plane/apiserver/schema/generated/built-in.ts');
const PREFIX = '#/components/schemas/';
const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const CRD = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1';
/** What a schema node may say in the table; everything else (descriptions, unions) is left out. */
const KEPT = new Set([
  'type',
  'format',
  'required',
  'default',
  'enum',
  'oneOf',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
  'x-kubernetes-patch-strategy',
  'x-kubernetes-patch-merge-key',
]);
const ANY = { 'x-kubernetes-preserve-unknown-fields': true };
/** Go types that write themselves: the published schema does not say what they take. */
const BY_HAND: Record<string, Node> = {
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': { 'x-kubernetes-int-or-string': true },
  'io.k8s.apimachinery.pkg.api.resource.Quantity': { format: 'quantity', oneOf: [{ type: 'string' }, { type: 'number' }] },
  'io.k8s.apimachinery.pkg.runtime.RawExtension': { type: 'object', ...ANY },
  [`${META}.FieldsV1`]: { type: 'object', ...ANY },
  [`${CRD}.JSON`]: ANY,
  [`${CRD}.JSONSchemaPropsOrArray`]: ANY,
  [`${CRD}.JSONSchemaPropsOrBool`]: ANY,
  [`${CRD}.JSONSchemaPropsOrStringArray`]: ANY,
};

const inputDir = process.argv[2];
if (inputDir === undefined) {
  console.error('usage: node tools/built-in-schemas/generate.ts INPUT_DIR');
  process.exit(2);
}
const published = readPublished(inputDir);
const kinds = kindsOf(published);
const definitions = reachable(Object.values(kinds));
writeFileSync(OUTPUT, moduleText());
console.log(`${Object.keys(kinds).length} kinds, ${definitions.size} definitions: ${OUTPUT}`);

function readPublished(dir: string): Map<string, Node> {
  const all = new Map<string, Node>();
  for (const file of readdirSync(dir).sort()) {
    // The documents are trusted input of a developer's tool; their shape is OpenAPI's own.
    const document = JSON.parse(readFileSync(join(dir, file), 'utf8')) as { components: { schemas: Record<string, Node> } };
    for (const [name, schema] of Object.entries(document.components.schemas)) all.set(name, schema);
  }
  return all;
}

/** `group/version/Kind` to definition. Lists and watch events are made by the server itself, DeleteOptions is the same in every group. */
function kindsOf(schemas: Map<string, Node>): Record<string, string> {
  const found: [string, string][] = [];
  for (const [name, schema] of schemas) {
    const gvks = (schema['x-kubernetes-group-version-kind'] ?? []) as Gvk[];
    for (const { group, version, kind } of gvks) {
      const isShared = name === `${META}.DeleteOptions` && (group !== '' || version !== 'v1');
      if (isShared || /(List|WatchEvent)$/.test(kind)) continue;
      found.push([`${group}/${version}/${kind}`, name]);
    }
  }
  return Object.fromEntries(found.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function reachable(roots: readonly string[]): Map<string, Node> {
  const done = new Map<string, Node>();
  const waiting = [...roots, `${META}.ObjectMeta`, `${META}.ListMeta`];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (done.has(name)) continue;
    done.set(name, BY_HAND[name] ?? compact(published.get(name) ?? {}, waiting));
  }
  return new Map([...done].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function compact(node: Node, references: string[]): Node {
  const result: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(node)) {
    if (key === '$ref') {
      const name = String(value).slice(PREFIX.length);
      references.push(name);
      result['$ref'] = name;
    } else if (key === 'allOf') Object.assign(result, compact((value as Node[])[0] ?? {}, references));
    else if (key === 'properties') result[key] = compactAll(value as Record<string, Node>, references);
    else if (key === 'items' || key === 'additionalProperties') result[key] = withoutDefault(compact(value as Node, references));
    else if (KEPT.has(key)) result[key] = value;
  }
  return result;
}

function compactAll(properties: Record<string, Node>, references: string[]): Node {
  return Object.fromEntries(Object.entries(properties).map(([name, node]) => [name, compact(node, references)]));
}

/** Go's zero value of a list item or map value: nobody can leave an item out, so it would never be used. */
function withoutDefault({ default: _, ...rest }: Node): Node {
  return rest;
}

/** Each definition is a line of JSON text, read when it is first asked for: loading the module costs next to nothing. */
function moduleText(): string {
  const lines = [
    '/** Generated by tools/built-in-schemas/generate.ts from the published OpenAPI of Kubernetes. Do not edit. */',
    'export const KINDS: Readonly<Record<string, string>> = {',
    ...Object.entries(kinds).map(([gvk, name]) => `  '${gvk}': '${name}',`),
    '};',
    '',
    'export const DEFINITIONS: Readonly<Record<string, string>> = {',
    ...[...definitions].map(([name, node]) => `  '${name}': '${JSON.stringify(node).replaceAll('\\', '\\\\').replaceAll("'", "\\'")}',`),
    '};',
    '',
  ];
  return lines.join('\n');
}
