import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { AWAITED_KINDS } from '../../api/kubevirt/awaited-kinds-table.ts';
import { PUBLISHED_KINDS } from '../../api/kubevirt/generated/published-types.ts';
import { KINDS } from '../../api/kubevirt/kinds-table.ts';
import { type AdmissionWorld, startAdmissionWorld } from './admission-world.testing.ts';

/** Published by KubeVirt only as a part of another group's kind. */
const UNPUBLISHED = ['VirtualMachineBackupTracker'];

describe('kinds whose feature is not here yet', { timeout: 120_000 }, () => {
  let world: AdmissionWorld;
  before(async () => {
    world = await startAdmissionWorld();
  });
  after(() => world.close());

  for (const { group, versions, plural, kind, isNamespaced, awaits } of AWAITED_KINDS)
    for (const version of versions)
      test(`${kind} ${version}: lists are empty, collections go, and none is made`, async () => {
        const all = `/apis/${group}/${version}/${plural}`;
        const collection = isNamespaced ? `/apis/${group}/${version}/namespaces/default/${plural}` : all;
        const { status, body } = await world.send('GET', all);
        assert.deepEqual([status, (body as { items?: unknown[] }).items], [200, []]);
        assert.equal((await world.send('DELETE', collection)).status, 200);
        assert.equal((await world.send('DELETE', `${collection}/none`)).status, 404);
        const object = { apiVersion: `${group}/${version}`, kind, metadata: { name: 'x' }, spec: { anything: ['at', 'all'] } };
        const refused = await world.send('POST', collection, object);
        assert.equal(refused.status, 422);
        assert.ok(refused.body.message?.includes(awaits), refused.body.message);
      });
});

test('a kind that is here is not awaited', () => {
  const here = new Set<string>(KINDS.map(({ kind }) => kind));
  assert.deepEqual(
    AWAITED_KINDS.filter(({ kind }) => here.has(kind) || !(kind in PUBLISHED_KINDS || UNPUBLISHED.includes(kind))),
    [],
  );
});
