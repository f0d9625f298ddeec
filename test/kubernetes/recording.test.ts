import assert from 'node:assert/strict';
import { test } from 'node:test';
import { format, parse, Recorder, resolve } from './recording.ts';

test('what a server named is recorded by where it was learnt, and said again in the names of another', () => {
  const recorder = new Recorder();
  const made = recorder.add({ method: 'POST', path: '/maps', body: '{"a":1}' });
  recorder.learn(made, { metadata: { uid: 'u-1', resourceVersion: '7' } });
  recorder.add({ method: 'PUT', path: '/maps/a', body: '{"metadata":{"resourceVersion":"7","uid":"u-1"}}' });
  recorder.add({ method: 'GET', path: '/maps?watch=true&resourceVersion=7&limit=7' });
  const requests = parse(format(recorder.requests));
  const others = [{ metadata: { uid: 'x', resourceVersion: '99' } }];
  assert.deepEqual(
    requests.slice(1).map(({ path, body = '' }) => [resolve(path, others), resolve(body, others)]),
    [
      ['/maps/a', '{"metadata":{"resourceVersion":"99","uid":"x"}}'],
      ['/maps?watch=true&resourceVersion=99&limit=7', ''],
    ],
  );
});

test('a name that this server never gave is a name that nobody has', () => {
  assert.equal(resolve('/maps?resourceVersion=<<0 metadata/resourceVersion>>', [{}]), '/maps?resourceVersion=0');
});
