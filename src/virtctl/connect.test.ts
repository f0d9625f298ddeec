import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect } from './connect.ts';

test('--context chooses among the clusters of a kubeconfig, and one that is not there is said', () => {
  const folder = mkdtempSync(join(tmpdir(), 'connect-'));
  const kubeconfig = join(folder, 'config');
  const names = ['near', 'far'];
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      'current-context': 'near',
      clusters: names.map((name) => ({ name, cluster: { server: `https://${name}.example` } })),
      contexts: names.map((name) => ({ name, context: { cluster: name, user: '', namespace: `of-${name}` } })),
    }),
  );
  const caller = { env: {}, stderr: process.stderr, home: folder, version: 'test' };
  const reached = (flags: object) => {
    const { server, namespace } = connect(caller, { kubeconfig, ...flags });
    return [server, namespace];
  };
  try {
    assert.deepEqual(reached({}), ['https://near.example', 'of-near']);
    assert.deepEqual(reached({ context: 'far' }), ['https://far.example', 'of-far']);
    assert.deepEqual(reached({ context: 'far', namespace: 'mine' }), ['https://far.example', 'mine']);
    assert.throws(() => reached({ context: 'nowhere' }), { code: 'KUBECONFIG_INVALID', why: 'there is no context nowhere' });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
