import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { startTestServer, type TestServer } from '../test-server.testing.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const MEGABYTE = 1024 * 1024;

describe('bodies nobody should send', { timeout: 30_000 }, () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.close());

  async function send(body: string | Uint8Array<ArrayBuffer>, contentType: string, { method = 'POST', path = MAPS } = {}) {
    const startedAt = performance.now();
    const response = await server.fetch(path, { method, headers: { 'content-type': contentType }, body });
    const answer = await response.json();
    assert.ok(performance.now() - startedAt < 2000, 'it took too long');
    return { status: response.status, answer, warning: response.headers.get('warning') };
  }

  const nested = (open: string, close: string, depth: number) => `${open.repeat(depth)}1${close.repeat(depth)}`;
  const bomb = [
    'a: &a [x,x,x,x,x,x,x,x,x]',
    ...'bcdefghi'.split('').map((name, i) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[i]}`)}]`),
  ];
  const cases: [string, string, string, number][] = [
    ['JSON that ends early', '{"metadata":', 'application/json', 400],
    ['JSON nested a hundred thousand deep', nested('{"a":', '}', 100_000), 'application/json', 400],
    ['lists nested a hundred thousand deep', nested('[', ']', 100_000), 'application/json', 400],
    ['YAML that is none', 'a: [', 'application/yaml', 400],
    ['YAML whose aliases multiply', bomb.join('\n'), 'application/yaml', 400],
    ['YAML that would take long', `a: ${'['.repeat(512 * 1024)}`, 'application/yaml', 413],
    ['YAML nested deep', nested('[', ']', 3000), 'application/yaml', 400],
    ['four megabytes long', JSON.stringify({ metadata: { name: 'a' }, data: { big: 'x'.repeat(4 * MEGABYTE) } }), 'application/json', 413],
    ['a list', '[]', 'application/json', 400],
    ['a word', '"hello"', 'application/json', 400],
    ['of another kind', '{"kind":"Secret","apiVersion":"v1","metadata":{"name":"a"}}', 'application/json', 400],
    ['an object whose metadata is a word', '{"metadata":"a"}', 'application/json', 400],
    ['CBOR', 'x', 'application/cbor', 415],
    ['a form', 'a=b', 'application/x-www-form-urlencoded', 415],
  ];
  for (const [name, body, type, status] of cases) {
    test(`a body that is ${name} is refused: ${status}, with a Status`, async () => {
      const { status: got, answer } = await send(body, type);
      assert.deepEqual([got, answer.kind, answer.code], [status, 'Status', status]);
    });
  }

  const protobuf = (...bytes: number[]) => Uint8Array.of(0x6b, 0x38, 0x73, 0, ...bytes);
  const malformed: [string, Uint8Array<ArrayBuffer>, number?][] = [
    ['without its magic number', Uint8Array.of(1, 2, 3, 4)],
    ['that ends after its magic number', protobuf()],
    ['whose field is longer than the message', protobuf(0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f, 1)],
    ['with a number that never ends', protobuf(...Array(20).fill(0xff))],
    ['with a wire type that does not exist', protobuf(0x0f, 1, 2, 3)],
    ['of a kind that does not exist', protobuf(0x0a, 8, 0x0a, 2, 0x76, 0x31, 0x12, 2, 0x4e, 0x6f, 0x12, 0), 415],
    ['nested ten thousand deep', protobuf(...Array(10_000).fill(0x12), 0)],
  ];
  for (const [name, body, expected = 400] of malformed) {
    test(`a body of protobuf ${name} is refused: ${expected}, with a Status`, async () => {
      const { status, answer } = await send(body, 'application/vnd.kubernetes.protobuf');
      assert.deepEqual([status, answer.kind, answer.code], [expected, 'Status', expected]);
    });
  }

  test('JSON called YAML is YAML; YAML called JSON, and a patch type on a POST, are refused', async () => {
    assert.equal((await send('{"metadata":{"name":"json"}}', 'application/yaml')).status, 201);
    assert.equal((await send('metadata: {name: yaml}', 'application/json')).status, 400);
    assert.equal((await send('{}', 'application/merge-patch+json')).status, 415);
    const patched = await send('{}', 'application/json', { method: 'PATCH', path: `${MAPS}/json` });
    assert.deepEqual([patched.status, patched.answer.reason], [415, 'UnsupportedMediaType']);
  });

  test('a compressed body is never unpacked: 400 or 415', async () => {
    const bomb = new Uint8Array(gzipSync(Buffer.alloc(64 * MEGABYTE, ' ')));
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const before = process.memoryUsage().arrayBuffers;
    const { status } = await server.fetch(MAPS, { method: 'POST', headers, body: bomb });
    assert.ok(status === 400 || status === 415, String(status));
    assert.ok(process.memoryUsage().arrayBuffers - before < 32 * MEGABYTE);
  });

  test('a body of bytes that are not UTF-8 is refused: 400', async () => {
    assert.equal((await send(Uint8Array.of(0x7b, 0xff, 0x7d), 'application/json')).status, 400);
  });

  test('prototype keys change nothing: they are fields like others, or unknown ones', async () => {
    const body = '{"metadata":{"name":"proto"},"data":{"__proto__":"x","constructor":"y"},"__proto__":{"polluted":true}}';
    const { status } = await send(body, 'application/json', { path: `${MAPS}?fieldValidation=Ignore` });
    assert.equal(status, 201);
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
    const patch = '{"__proto__":{"polluted":true},"metadata":{"__proto__":{"polluted":true}}}';
    await send(patch, 'application/merge-patch+json', { method: 'PATCH', path: `${MAPS}/proto` });
    const operations = '[{"op":"add","path":"/__proto__/polluted","value":true}]';
    const answer = await send(operations, 'application/json-patch+json', { method: 'PATCH', path: `${MAPS}/proto` });
    assert.ok(answer.status >= 400 || answer.answer.polluted === undefined);
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
  });

  test('a key that is there twice is refused when the client is strict, and warned about otherwise', async () => {
    const body = '{"metadata":{"name":"twice"},"data":{"a":"1","a":"2"}}';
    const strict = await send(body, 'application/json', { path: `${MAPS}?fieldValidation=Strict` });
    assert.equal(strict.status, 400);
    assert.match(strict.answer.message, /strict decoding error: duplicate field "data\.a"/);
    const lenient = await send(body, 'application/json');
    assert.deepEqual([lenient.status, lenient.warning], [201, '299 - "duplicate field \\"data.a\\""']);
  });

  test('ten thousand and one patch operations are too many', async () => {
    await send('{"metadata":{"name":"patched"}}', 'application/json');
    const operations = JSON.stringify(Array(10_001).fill({ op: 'test', path: '/kind', value: 'ConfigMap' }));
    const { status } = await send(operations, 'application/json-patch+json', { method: 'PATCH', path: `${MAPS}/patched` });
    assert.ok(status === 413 || status === 422, String(status));
  });

  test('an object where a text belongs is no fault of ours, even one that cannot be made a text', async () => {
    await send('{"metadata":{"name":"texts"}}', 'application/json');
    const path = `${MAPS}/texts`;
    const odd = { toString: 1, valueOf: null };
    const patch = await send(JSON.stringify({ metadata: { uid: odd } }), 'application/merge-patch+json', { method: 'PATCH', path });
    assert.equal(patch.status, 409);
    for (const options of [{ dryRun: [odd] }, { propagationPolicy: odd }, { propagationPolicy: odd, orphanDependents: true }]) {
      const { status } = await send(JSON.stringify(options), 'application/json', { method: 'DELETE', path });
      assert.equal(status, 422, JSON.stringify(options));
    }
  });
});
