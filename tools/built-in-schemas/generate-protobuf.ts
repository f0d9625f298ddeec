/**
 * Turns the Go modules that define Kubernetes' kinds into the table of protobuf field numbers the API server reads bodies with.
 * Usage: node tools/built-in-schemas/generate-protobuf.ts MODULE_DIR... (k8s.io/api, apimachinery, apiextensions-apiserver,
 * kube-aggregator, as `go mod download` unpacks them). The .proto files say numbers and types; the Go structs beside them say
 * the JSON name, what is inlined, and which zeros are written. Facts only, no prose.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { KINDS } from '../../src/control-plane/apiserver/schema/generated/built-in.ts';
import { BUILT_IN_KINDS } from '../../src/control-plane/apiserver/types/built-in-kinds-table.ts';

type ProtoField = { readonly number: number; readonly type: string };
type GoField = { readonly name: string; readonly keepsZero: boolean };
type Message = { readonly fields: readonly ProtoField[]; readonly go: ReadonlyMap<number, GoField> | undefined };

const OUTPUT = join(import.meta.dirname, '../../src/control-plane/apiserver/protobuf/generated/fields.ts');
const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const CRD = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1';
/** Types that the decoder knows by itself: their JSON is not the sum of their fields. */
const WELL_KNOWN: Readonly<Record<string, string>> = {
  [`${META}.Time`]: 'time',
  [`${META}.MicroTime`]: 'microTime',
  [`${META}.FieldsV1`]: 'json',
  'io.k8s.apimachinery.pkg.api.resource.Quantity': 'quantity',
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': 'intOrString',
  'io.k8s.apimachinery.pkg.runtime.RawExtension': 'json',
  [`${CRD}.JSON`]: 'json',
  [`${CRD}.JSONSchemaPropsOrBool`]: 'schemaOrBool',
  [`${CRD}.JSONSchemaPropsOrArray`]: 'schemaOrArray',
  [`${CRD}.JSONSchemaPropsOrStringArray`]: 'schemaOrStrings',
};
const SCALARS: Readonly<Record<string, string>> = {
  string: 'string',
  bytes: 'bytes',
  bool: 'bool',
  int32: 'int',
  int64: 'int',
  uint32: 'int',
  uint64: 'int',
  double: 'double',
};

const folders = process.argv.slice(2);
if (folders.length === 0) {
  console.error('usage: node tools/built-in-schemas/generate-protobuf.ts MODULE_DIR...');
  process.exit(2);
}
const messages = new Map(folders.flatMap(protoFiles).flatMap((file) => [...readMessages(file)]));
const moreKinds = kindsWithoutSchema();
const lines = tableLines([...Object.values(KINDS), ...moreKinds.values(), `${META}.DeleteOptions`, `${CRD}.JSONSchemaProps`]);
writeFileSync(OUTPUT, moduleText());
console.log(`${lines.size} messages: ${OUTPUT}`);

/** Kinds that are served although no OpenAPI document of theirs is at hand: their messages follow from group and version. */
function kindsWithoutSchema(): Map<string, string> {
  const found = BUILT_IN_KINDS.map(({ group, version, kind }): [string, string] => [
    `${group}/${version}/${kind}`,
    `io.k8s.api.${group.split('.')[0] || 'core'}.${version}.${kind}`,
  ]);
  return new Map(found.filter(([gvk, name]) => !(gvk in KINDS) && messages.has(name)));
}

function protoFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('generated.proto'))
    .map((name) => join(folder, name));
}

/** Every message of one file by the name OpenAPI gives it. */
function* readMessages(file: string): Iterable<[string, Message]> {
  const text = readFileSync(file, 'utf8').replaceAll(/^\s*\/\/.*$/gm, '');
  const owner = definitionName(/^package (\S+);/m.exec(text)?.[1] ?? '');
  const structs = readStructs(dirname(file));
  for (const [, name = '', body = ''] of text.matchAll(/^message (\w+) \{\n(.*?)^\}/gms)) {
    yield [`${owner}.${name}`, { fields: [...readFields(body, owner)], go: structs.get(name) }];
  }
}

function* readFields(body: string, owner: string): Iterable<ProtoField> {
  const pattern = /^\s*(?:(optional|repeated) ([\w.]+)|map<string, ([\w.]+)>) \w+ = (\d+)/gm;
  for (const [, label, single, value, number] of body.matchAll(pattern)) {
    const type = typeName(single ?? value ?? '', owner);
    yield { number: Number(number), type: value !== undefined ? `{}${type}` : label === 'repeated' ? `[]${type}` : type };
  }
}

function typeName(type: string, owner: string): string {
  if (SCALARS[type] !== undefined) return SCALARS[type];
  return type.startsWith('.') ? definitionName(type.slice(1)) : `${owner}.${type}`;
}

/** `k8s.io.kube_aggregator.x` as OpenAPI says it: `io.k8s.kube-aggregator.x`. */
function definitionName(proto: string): string {
  return proto.replace(/^k8s\.io\./, 'io.k8s.').replaceAll('_', '-');
}

/** The tagged fields of every struct of a Go package, by struct and field number. */
function readStructs(folder: string): Map<string, Map<number, GoField>> {
  const structs = new Map<string, Map<number, GoField>>();
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.go') && !/_test|^generated|^zz_/.test(name))) {
    const text = readFileSync(join(folder, file), 'utf8');
    for (const [, name = '', body = ''] of text.matchAll(/^(?:type |\t)(\w+) struct \{\n(.*?)^\t?\}/gms)) {
      structs.set(name, new Map(readTags(body)));
    }
  }
  return structs;
}

function* readTags(body: string): Iterable<[number, GoField]> {
  const pattern = /^\s*(?:\w+\s+)?(\*?)[\w.[\]*]+\s+`json:"([^",]*)([^"]*)"[^`]*protobuf:"\w+,(\d+),/gm;
  for (const [, pointer, name = '', options = '', number] of body.matchAll(pattern)) {
    yield [Number(number), { name: options.includes('inline') ? '' : name, keepsZero: pointer === '*' || !options.includes('omitempty') }];
  }
}

/** A line per message that a body of a known kind can contain; references to the package of the message itself start with a dot. */
function tableLines(roots: readonly string[]): Map<string, string> {
  const done = new Map<string, string>();
  const waiting = [...roots];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const message = messages.get(name);
    if (done.has(name) || message === undefined) continue;
    done.set(name, lineOf(name, message, waiting));
  }
  return new Map([...done].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function lineOf(name: string, { fields, go }: Message, references: string[]): string {
  const owner = name.slice(0, name.lastIndexOf('.'));
  const shortType = (type: string): string => {
    const [, container = '', item = ''] = /^(\[\]|\{\})?(.*)$/.exec(type) ?? [];
    if (!item.startsWith('io.k8s.')) return type;
    const wellKnown = WELL_KNOWN[item];
    if (wellKnown !== undefined) return container + wellKnown;
    references.push(item);
    return container + (item.startsWith(`${owner}.`) && !item.slice(owner.length + 1).includes('.') ? item.slice(owner.length) : item);
  };
  if (fields.length === 0) return '';
  // A Go list or map with methods of its own is a message around `items`: the list itself in JSON.
  const only = fields[0];
  if (go === undefined && fields.length === 1 && only !== undefined) return `items ${shortType(only.type)}`;
  if (go === undefined) throw new Error(`Cannot read ${name}: there is no Go struct of that name`);
  const parts = fields.map(({ number, type }) => {
    const field = go.get(number);
    if (field === undefined) throw new Error(`Cannot read ${name}: its field ${number} has no tag in Go`);
    return `${number}${field.keepsZero ? '!' : ''} ${field.name || '-'} ${shortType(type)}`;
  });
  return parts.join(', ');
}

function moduleText(): string {
  return [
    '/** Generated by tools/built-in-schemas/generate-protobuf.ts from the published Go modules of Kubernetes. Do not edit. */',
    'export const MESSAGES: Readonly<Record<string, string>> = {',
    ...[...lines].map(([name, line]) => `  '${name}': '${line}',`),
    '};',
    '',
    '/** Kinds beyond those of the OpenAPI documents. */',
    'export const MORE_KINDS: Readonly<Record<string, string>> = {',
    ...[...moreKinds].map(([gvk, name]) => `  '${gvk}': '${name}',`),
    '};',
    '',
  ].join('\n');
}
