/** Requests that nobody should send. Half of them are made from schemas and wrong in some places, half are wrong as text. */
import { apiVersionOf, pathOf } from '../../../src/api/resource.ts';
import { isObject } from '../../../src/base/json.ts';
import { fuzzedValue, pick, type Random, wrongValue } from '../../../src/control-plane/apiserver/fuzzed-objects.testing.ts';
import { builtInTypes } from '../../../src/control-plane/apiserver/types/built-in-types.ts';
import { customKinds, type FuzzedKind } from './custom-kinds.ts';
import { rawRequest } from './raw-request.ts';
import { type Call, RUNNING, subresourceCalls } from './subresources.ts';

export type Sent = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
};

const MERGE = 'application/merge-patch+json';
/** Of all requests, to subresources: they are a small part of the API, and all that our own server answers by itself. */
const CALLS = 0.15;
const PATCHES = [MERGE, 'application/strategic-merge-patch+json', 'application/json-patch+json', 'application/apply-patch+yaml'];

/** A source of requests; the same seed gives the same ones. */
export function requestSource(random: Random): () => Sent {
  const ours = customKinds();
  const builtIn = builtInTypes({})
    .filter(({ schema }) => schema)
    .map(
      (type): FuzzedKind => ({
        path: pathOf(type, type.isNamespaced ? { namespace: 'default' } : {}),
        apiVersion: apiVersionOf(type),
        kind: type.kind,
        schema: type.schema ?? {},
        examples: [],
      }),
    );
  const calls = subresourceCalls(ours.filter(({ kind }) => kind === 'VirtualMachine').flatMap(({ examples }) => examples));
  return () => {
    const kind = pick(random, random() < 0.5 ? ours : builtIn);
    const typed = random() < CALLS ? subresourceRequest(pick(random, calls), random) : typedRequest(kind, random);
    return harmless(random() < 0.5 ? typed : rawRequest(typed, random));
  };
}

/** What would end the test for everything after it: without its definitions and webhooks there is nothing left to ask. */
function harmless(sent: Sent): Sent {
  const [path = ''] = sent.path.split('?');
  return sent.method === 'DELETE' && /\/(customresourcedefinitions|\w+webhookconfigurations)\/*$/.test(path)
    ? { ...sent, method: 'GET' }
    : sent;
}

function typedRequest(kind: FuzzedKind, random: Random): Sent {
  const name = `n${Math.floor(random() * 20)}`;
  const value = random() < 0.5 && kind.examples.length > 0 ? mutated(pick(random, kind.examples), random) : fromSchema(kind, random);
  const object = isObject(value) && random() < 0.9 ? named(value, name) : value;
  const query = random() < 0.3 ? '?dryRun=All' : random() < 0.2 ? '?fieldValidation=Strict' : '';
  const one = `${kind.path}/${name}`;
  const send = (method: string, path: string, body: unknown, type = 'application/json'): Sent => ({
    method,
    path: path + query,
    headers: { 'content-type': type },
    body: JSON.stringify(body) ?? '',
  });
  const dice = random();
  if (dice < 0.45) return send('POST', kind.path, object);
  if (dice < 0.6) return send('PUT', one, object);
  if (dice < 0.7) return send('PUT', `${one}/${pick(random, ['status', 'scale', 'binding', 'finalize', 'x'])}`, object);
  if (dice < 0.9) {
    const type = pick(random, PATCHES);
    const operations = [
      { op: pick(random, ['add', 'replace', 'test', 'move']), path: '/spec', value: isObject(value) ? value['spec'] : value },
    ];
    return send('PATCH', one, type.includes('json-patch') ? operations : value, type);
  }
  const options = { propagationPolicy: wrongValue(random), dryRun: [wrongValue(random)], preconditions: { uid: wrongValue(random) } };
  if (dice < 0.97) return send('DELETE', random() < 0.8 ? one : kind.path, random() < 0.5 ? options : {});
  const selector = encodeURIComponent(textOf(wrongValue(random)));
  return { ...send('GET', `${kind.path}?fieldSelector=${selector}&labelSelector=${selector}&limit=${selector}`, ''), body: '' };
}

/** With options of its own or of another one, one or two places of which are wrong. */
function subresourceRequest({ path, methods, bodies }: Call, random: Random): Sent {
  const name = pick(random, [RUNNING, `n${Math.floor(random() * 20)}`]);
  const given = pick(random, bodies);
  const body = random() < 0.3 ? given : mutated(given, random);
  return {
    method: pick(random, methods),
    path: path.replace('NAME', name),
    headers: { 'content-type': 'application/json' },
    body: (JSON.stringify(body) ?? '').replaceAll('NAME', name),
  };
}

function fromSchema({ schema, apiVersion, kind }: FuzzedKind, random: Random): unknown {
  const value = fuzzedValue(schema, random, { wrongness: pick(random, [0, 0.01, 0.05, 0.3]) });
  return isObject(value) ? { ...value, apiVersion, kind } : value;
}

function named(object: object, name: string): object {
  const { metadata } = object as { metadata?: unknown };
  return { ...object, metadata: isObject(metadata) ? { ...metadata, name, namespace: undefined } : { name } };
}

/** One or two places of something right are wrong. */
function mutated(example: object, random: Random): unknown {
  const once = withOneWrong(example, random);
  return random() < 0.5 ? once : withOneWrong(once, random);
}

/** Walks down by chance and puts something else there. */
function withOneWrong(value: unknown, random: Random): unknown {
  const isList = Array.isArray(value);
  if ((!isObject(value) && !isList) || Object.keys(value).length === 0 || random() < 0.1) return wrongValue(random);
  const key = pick(random, Object.keys(value));
  if (isList) return value.map((each, index) => (String(index) === key ? withOneWrong(each, random) : each));
  return { ...value, [key]: withOneWrong(value[key], random) };
}

function textOf(value: unknown): string {
  return (typeof value === 'string' ? value : JSON.stringify(value)).toWellFormed().slice(0, 2_000);
}
