/** A request that is damaged as text: its body, its type, its path, its query, its headers, or its size. */
import { pick, type Random } from '../../../src/control-plane/apiserver/fuzzed-objects.testing.ts';
import type { Sent } from './fuzzed-request.ts';

type Damage = (sent: Sent, random: Random) => Sent;

const MEBIBYTE = 1024 * 1024;
const TYPES = [
  '',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  'application/json; charset=utf-16',
  'multipart/form-data',
  'text/html',
  'application/cbor',
  'application/json-patch+json',
  'application/apply-patch+yaml',
];
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];
const ACCEPTS = [
  '*/*',
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  'application/vnd.kubernetes.protobuf',
  'application/yaml',
  ',;=,q=',
  'text/html',
  'a/b,'.repeat(500),
];
const QUERIES = [
  'watch=1&timeoutSeconds=0',
  'watch=1&resourceVersion=99999999&timeoutSeconds=1',
  'watch=maybe',
  'limit=-1',
  'limit=1&continue=AAAA',
  'continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6OTk5OTl9',
  'resourceVersion=-1',
  'resourceVersion=1&resourceVersionMatch=Exact',
  'resourceVersionMatch=Never',
  'labelSelector=%21%21%2C%28%29',
  `labelSelector=${'a%20in%20(b),'.repeat(300)}`,
  'fieldSelector=metadata.name%3D%3D%3D',
  'fieldSelector=__proto__%3D1',
  'dryRun=None&dryRun=All',
  'gracePeriodSeconds=-1',
  'propagationPolicy=Maybe',
  'pretty=%00&fieldManager=%ff',
  'fieldValidation=Perhaps',
  'timeoutSeconds=1e9&watch=0',
];
const TAILS = [
  '/',
  '//',
  '/%2e%2e/%2e%2e/secrets',
  '/%00',
  '/a%2fb',
  '/proxy/x',
  '/log',
  '/exec',
  '/eviction',
  `/${'x'.repeat(3_000)}`,
  '/ü',
];
const PLACES = [
  '/',
  '/api',
  '/apis',
  '/openapi/v2',
  '/openapi/v3',
  '/version',
  '/healthz',
  '/readyz?verbose',
  '/metrics',
  '/apis/kubevirt.io',
  '/api/v2',
];

const DAMAGES: readonly Damage[] = [
  // Bytes.
  (sent, random) => ({ ...sent, body: flipped(Buffer.from(sent.body), random) }),
  (sent, random) => ({ ...sent, body: Buffer.from(sent.body).subarray(0, Math.floor(random() * sent.body.length)) }),
  (sent) => ({ ...sent, body: Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 0]), Buffer.from(sent.body)]) }),
  (sent) => ({ ...sent, headers: { ...sent.headers, 'content-encoding': 'gzip' } }),
  (sent, random) => ({ ...sent, body: Buffer.concat([Buffer.from('k8s\0'), flipped(Buffer.from(sent.body), random)]) }),
  // Types, methods and headers.
  (sent, random) => ({ ...sent, headers: { 'content-type': pick(random, TYPES) } }),
  (sent, random) => ({ ...sent, method: pick(random, METHODS) }),
  (sent, random) => ({ ...sent, headers: { ...sent.headers, accept: pick(random, ACCEPTS) } }),
  (sent) => ({ ...sent, headers: { ...sent.headers, 'impersonate-user': 'x', 'impersonate-extra-%zz': 'y', 'x-remote-user': 'z' } }),
  (sent) => ({ ...sent, headers: { ...sent.headers, authorization: `Bearer ${'e30.'.repeat(200)}` } }),
  // Paths and queries.
  (sent, random) => ({ ...sent, path: encodeURI(`${sent.path.split('?')[0]}${pick(random, TAILS)}`).replaceAll('%25', '%') }),
  (sent, random) => ({ ...sent, path: `${sent.path.split('?')[0]}?${pick(random, QUERIES)}` }),
  (sent, random) => ({ ...sent, method: 'GET', body: '', path: `${sent.path.split('?')[0]}?${pick(random, QUERIES)}` }),
  (sent, random) => ({ ...sent, path: pick(random, PLACES), method: pick(random, ['GET', 'GET', 'POST']) }),
  // Sizes and nesting; large ones are rare, or nothing else would be sent.
  (sent, random) => ({ ...sent, body: '['.repeat(Math.floor(random() * 20_000)) }),
  (sent, random) => ({ ...sent, body: `${'{"a":'.repeat(Math.floor(random() * 5_000))}1` }),
  (sent, random) => ({ ...sent, headers: { 'content-type': 'application/yaml' }, body: aliases(Math.floor(random() * 12)) }),
  (sent, random) => (random() < 0.9 ? sent : { ...sent, body: `{"metadata":{"name":"${'x'.repeat(random() * 4 * MEBIBYTE)}"}}` }),
  (sent, random) => (random() < 0.9 ? sent : { ...sent, body: `{"spec":[${'{},'.repeat(random() * 200_000)}1]}` }),
  (sent, random) => (random() < 0.9 ? sent : { ...sent, body: `{${'"a":1,'.repeat(random() * 100_000)}"b":2}` }),
];

/** The request with one damage. */
export function rawRequest(sent: Sent, random: Random): Sent {
  return pick(random, DAMAGES)(sent, random);
}

function flipped(bytes: Buffer, random: Random): Buffer {
  for (let n = 0; n < 3 && bytes.length > 0; n += 1) bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
  return bytes;
}

/** Each line is ten of the line before. */
function aliases(lines: number): string {
  return ['a0: &a0 x', ...Array.from({ length: lines }, (_, n) => `a${n + 1}: &a${n + 1} [${Array(10).fill(`*a${n}`).join(', ')}]`)].join(
    '\n',
  );
}
