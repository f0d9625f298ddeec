import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { NODES, type Node } from '../api/core/node.ts';
import { createClient } from './client.ts';
import { SharedObjects } from './shared-objects.ts';

const node = (resourceVersion: string, labels: Record<string, string> = {}, uid = 'uid-n1'): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1', uid, resourceVersion, labels },
});

test('the same text is the same object', () => {
  const shared = new SharedObjects();
  const text = JSON.stringify(node('1'));
  assert.deepEqual(shared.parse(text), node('1'));
  assert.equal(shared.parse(text), shared.parse(text));
});

test('the same version is the same object, however it came here', () => {
  const shared = new SharedObjects();
  const watched = shared.parse(JSON.stringify(node('1')));
  const listed = shared.share(node('1'));
  assert.equal(listed, watched);
});

test('another version, another view of it, and an object without a version are objects of their own', () => {
  const shared = new SharedObjects();
  const first = shared.share(node('1'));
  for (const other of [node('2'), { ...node('1'), apiVersion: 'v2' }, node('')]) assert.equal(shared.share(other), other);
  const withDefaults = node('1', { added: 'later' });
  assert.equal(shared.share(withDefaults), withDefaults);
  assert.notEqual(withDefaults, first);
});

test('objects that nobody holds are forgotten', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const shared = new SharedObjects();
  for (let n = 1; n < 1_000; n++) shared.share(node('1', {}, `uid-${n}`));
  return new Promise<void>((resolve) => {
    setImmediate(() => {
      collect();
      const held = shared.share(node('1', {}, 'uid-1000'));
      assert.deepEqual([shared.size, held.metadata.uid], [1, 'uid-1000']);
      resolve();
    });
  });
});

test('clients that share are told of a change with one object, each as its own event', async () => {
  const shared = new SharedObjects();
  const told = async (type: string) => {
    const lines = `${JSON.stringify({ type, object: node('7') })}\n{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}}\n`;
    const client = createClient({ fetch: async () => new Response(lines), baseUrl: 'http://k', userAgent: 'test', shared });
    return Array.fromAsync(client.watch(NODES));
  };
  const [first, second] = [await told('ADDED'), await told('MODIFIED')];
  assert.deepEqual(first[0], { type: 'ADDED', object: node('7') });
  assert.deepEqual(second[0], { type: 'MODIFIED', object: node('7') });
  assert.equal(first[0]?.object, second[0]?.object);
  assert.deepEqual(first[1], { type: 'BOOKMARK', object: { metadata: { resourceVersion: '9' } } });
});

test('a failure within a watch is thrown, also by clients that share', async () => {
  const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' };
  const lines = `${JSON.stringify({ type: 'ERROR', object: status })}\n`;
  const client = createClient({
    fetch: async () => new Response(lines),
    baseUrl: 'http://k',
    userAgent: 'test',
    shared: new SharedObjects(),
  });
  await assert.rejects(Array.fromAsync(client.watch(NODES)), { reason: 'Expired' });
});
