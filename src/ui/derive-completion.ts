/** What can stand at a place of a YAML text, by the published schema of its kind. Pure. */
import { isObject, type JsonObject } from '../base/json.ts';

/** The part of an OpenAPI document that is looked at. */
export type SchemaDocument = { readonly components?: { readonly schemas?: Readonly<Record<string, JsonObject>> } };
export type Completion = {
  /** Where in the line it begins. */
  readonly from: number;
  readonly options: readonly { readonly label: string; readonly insert: string; readonly detail: string; readonly info: string }[];
};

/** References of a schema to itself end somewhere. */
const MOST_REFERENCES = 20;
/** Lines that are gone back through for the keys above. */
const MOST_LINES = 5000;

/** For the end of the last of these lines; undefined where nothing is known. */
export function deriveCompletion(lines: readonly string[], document: SchemaDocument, kind: string): Completion | undefined {
  const line = lines.at(-1) ?? '';
  const [, lead = '', word = ''] = /^((?:\s|- )*)([\w./-]*)$/.exec(line) ?? [];
  const root = schemaOfKind(document, kind);
  if (!root) return undefined;
  if (line === `${lead}${word}`) {
    const parent = schemaAt(document, root, pathAbove(lines.slice(0, -1), lead));
    return optionsOf(
      lead.length,
      Object.entries(propertiesOf(parent)).map(([key, schema]) => keyOption(document, key, schema)),
    );
  }
  const [, before = '', key = '', value = ''] = /^((?:\s|- )*)([\w./-]+):\s+(\S*)$/.exec(line) ?? [];
  if (key === '') return undefined;
  const schema = schemaAt(document, root, [...pathAbove(lines.slice(0, -1), before), key]);
  const words = schema?.['type'] === 'boolean' ? [true, false] : schema?.['enum'];
  if (!Array.isArray(words)) return undefined;
  return optionsOf(
    line.length - value.length,
    words.map((each) => ({ label: String(each), insert: String(each), detail: '', info: '' })),
  );
}

/** The keys that a line of this indentation is below of; positions in lists are left out. */
export function pathAbove(lines: readonly string[], lead: string): string[] {
  const path: string[] = [];
  // where our key stands, and where the dash of its item does when it is the first of one
  let [column, dash] = [lead.length, lead.lastIndexOf('-')];
  for (const line of lines.slice(-MOST_LINES).toReversed()) {
    const [, spaces = '', key] = /^((?:\s|- )*)([\w./-]+):/.exec(line) ?? [];
    if (key === undefined) continue;
    const [columnAbove, dashAbove] = [spaces.length, spaces.lastIndexOf('-')];
    const isAbove = dash < 0 ? columnAbove < column : columnAbove <= dash && dashAbove !== dash;
    if (isAbove) {
      path.unshift(key);
      [column, dash] = [columnAbove, dashAbove];
    } else if (dash < 0 && columnAbove === column) dash = dashAbove; // the first key of the item that ours is in
    if (column === 0 && dash < 0) break;
  }
  return path;
}

function schemaOfKind({ components }: SchemaDocument, kind: string): JsonObject | undefined {
  return Object.values(components?.schemas ?? {}).find((schema) => {
    const kinds = schema['x-kubernetes-group-version-kind'];
    return Array.isArray(kinds) && kinds.some((each) => isObject(each) && each['kind'] === kind);
  });
}

function schemaAt(document: SchemaDocument, root: JsonObject, path: readonly string[]): JsonObject | undefined {
  let at: JsonObject | undefined = resolved(document, root);
  for (const key of path) {
    const properties: JsonObject = propertiesOf(at);
    const next: unknown = Object.hasOwn(properties, key) ? properties[key] : at?.['additionalProperties'];
    at = isObject(next) ? resolved(document, next) : undefined;
  }
  return at;
}

/** Through references, and into the items of a list: their keys are what is typed. */
function resolved(document: SchemaDocument, schema: JsonObject): JsonObject {
  let at = schema;
  for (let count = 0; count < MOST_REFERENCES; count++) {
    const [only] = Array.isArray(at['allOf']) ? at['allOf'] : [];
    const name =
      String(at['$ref'] ?? '')
        .split('/')
        .at(-1) ?? '';
    const next: unknown = at['$ref'] === undefined ? (at['items'] ?? only) : document.components?.schemas?.[name];
    if (!isObject(next)) break;
    at = next;
  }
  return at;
}

function propertiesOf(schema: JsonObject | undefined): JsonObject {
  return isObject(schema?.['properties']) ? schema['properties'] : {};
}

function keyOption(document: SchemaDocument, key: string, schema: unknown): Completion['options'][number] {
  const own = isObject(schema) ? schema : {};
  const type = String(own['type'] ?? resolved(document, own)['type'] ?? '');
  const end = type === 'array' ? ':\n' : type === 'object' ? ':\n' : ': ';
  return { label: key, insert: `${key}${end}`.trimEnd() + (end === ': ' ? ' ' : ''), detail: type, info: String(own['description'] ?? '') };
}

function optionsOf(from: number, options: Completion['options']): Completion | undefined {
  return options.length === 0 ? undefined : { from, options };
}
