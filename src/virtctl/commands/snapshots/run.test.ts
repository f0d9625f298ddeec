import assert from 'node:assert/strict';
import { test } from 'node:test';
import { vm } from '../../../testing/builders.ts';
import { testDeps } from '../../deps.testing.ts';
import { run } from './run.ts';

const LIST = 'GET /apis/snapshot.kubevirt.io/v1beta1/namespaces/default/virtualmachinesnapshots';
const CONTENTS = 'GET /apis/snapshot.kubevirt.io/v1beta1/namespaces/default/virtualmachinesnapshotcontents';
const RESTORES = 'GET /apis/snapshot.kubevirt.io/v1beta1/namespaces/default/virtualmachinerestores';
const NONE = { metadata: {}, items: [] };
const MACHINE = 'GET /apis/kubevirt.io/v1/namespaces/default/virtualmachines/db';

function snapshot(name: string, of: string, creationTime: string) {
  const status = { phase: 'Succeeded', creationTime, snapshotVolumes: { includedVolumes: ['root'] } };
  return { metadata: { name }, spec: { source: { name: of } }, status };
}

test('those of the machine are listed, the newest last', async () => {
  const items = [
    snapshot('b', 'db', '2026-01-02T00:00:00Z'),
    snapshot('x', 'web', '2026-01-01T00:00:00Z'),
    snapshot('a', 'db', '2026-01-01T00:00:00Z'),
  ];
  const { deps, stdout } = testDeps({ [LIST]: { metadata: {}, items }, [CONTENTS]: NONE, [RESTORES]: NONE });
  await run(deps, {}, 'db');
  assert.deepEqual(
    stdout()
      .split('\n')
      .map((line) => line.split(/ +/)[0]),
    ['NAME', 'a', 'b', ''],
  );
});

test('of a machine that nothing is kept of, the way to do so is said', async () => {
  const { deps, stdout, stderr } = testDeps({ [LIST]: { metadata: {}, items: [] }, [MACHINE]: vm('Halted') });
  await run(deps, {}, 'db');
  assert.deepEqual([stdout(), stderr()], ['', 'nothing is kept of db; virtctl snapshot db keeps it\n']);
});
