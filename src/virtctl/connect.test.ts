import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { UserError } from '../base/errors.ts';
import { connect, machineName, machineTarget } from './connect.ts';
import type { Context } from './context.ts';

const CASES: [string[], string][] = [
  [['db'], 'db'],
  [['vm', 'db'], 'db'],
  [['VMI', 'db'], 'db'],
  [['vm/db'], 'db'],
  [['vm'], 'vm'],
];

for (const [words, expected] of CASES) {
  test(`"${words.join(' ')}" names ${expected}`, () => assert.equal(machineName('start', words), expected));
}

test('a word that is no kind is refused, with the way to say it', () => {
  assert.throws(
    () => machineName('start', ['omw', 'db']),
    (error: UserError) =>
      error instanceof UserError &&
      error.why === 'omw is not a kind of machine' &&
      error.fix === 'virtctl start db, or virtctl start vm db',
  );
});

test('the kind that was said is kept, and a published slip is understood', () => {
  assert.deepEqual(machineTarget('start', ['ovm', 'db']), { kind: 'ovm', name: 'db' });
  assert.deepEqual(machineTarget('start', ['omv', 'db']), { kind: 'ovm', name: 'db', note: 'omv is taken as ovm' });
  assert.deepEqual(machineTarget('start', ['vmic/db']), { kind: 'vmic', name: 'db' });
  assert.deepEqual(machineTarget('start', ['db']), { name: 'db' });
});

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
  const context = { process, home: folder, version: 'test' } as unknown as Context; // what connect needs of it
  const reached = (flags: object) => {
    const { cluster, namespace } = connect(context, { kubeconfig, ...flags });
    return [cluster.server, namespace];
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
