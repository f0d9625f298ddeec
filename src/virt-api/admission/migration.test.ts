import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { userNameOf } from '../../api/kubevirt/component-accounts.ts';
import { type AdmissionWorld, startAdmissionWorld } from './admission-world.testing.ts';

const ALL = '/apis/kubevirt.io/v1/namespaces/default';
const OURS = userNameOf('virt-controller');

describe('a migration', { timeout: 120_000 }, () => {
  let world: AdmissionWorld;
  before(async () => {
    world = await startAdmissionWorld();
  });
  after(() => world.close());

  /** Makes an instance whose status is this. */
  async function instance(name: string, status: object): Promise<void> {
    const spec = { domain: { devices: {}, memory: { guest: '64Mi' } } };
    const made = await world.send('POST', `${ALL}/virtualmachineinstances`, {
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachineInstance',
      metadata: { name },
      spec,
    });
    assert.equal(made.status, 201, made.body.message);
    assert.equal((await world.send('PATCH', `${ALL}/virtualmachineinstances/${name}`, { status }, OURS)).status, 200);
  }
  const move = (name: string, spec: object) =>
    world.send('POST', `${ALL}/virtualmachineinstancemigrations`, {
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachineInstanceMigration',
      metadata: { name },
      spec,
    });
  const movable = { phase: 'Running', conditions: [{ type: 'LiveMigratable', status: 'True' }] };

  test('names an instance that is there', async () => {
    for (const [spec, why] of [
      [{}, /spec.vmiName: Required/],
      [{ vmiName: 'none' }, /there is no VMI default\/none/],
    ] as const) {
      const { status, body } = await move('m', spec);
      assert.deepEqual([status, why.test(body.message ?? '')], [422, true], body.message);
    }
  });

  test('is not made for an instance that has ended or stays, and says why', async () => {
    await instance('ended', { phase: 'Succeeded' });
    await instance('stays', {
      phase: 'Running',
      conditions: [{ type: 'LiveMigratable', status: 'False', reason: 'DisksNotLiveMigratable', message: 'PVC c is not shared' }],
    });
    await instance('suspending', { ...movable, suspension: { phase: 'Saving' } });
    for (const [vmiName, why] of [
      ['suspending', /is being suspended/],
      ['ended', /it is Succeeded/],
      ['stays', /PVC c is not shared/],
    ] as const) {
      const { status, body } = await move('m', { vmiName });
      assert.deepEqual([status, why.test(body.message ?? '')], [422, true], body.message);
    }
  });

  test('has its instance as a label, is the only one under way, and cannot be changed', async () => {
    await instance('db', movable);
    const { status, body } = await move('first', { vmiName: 'db' });
    const { labels } = (body as { metadata?: { labels?: object } }).metadata ?? {};
    assert.deepEqual([status, labels], [201, { 'kubevirt.io/vmi-name': 'db' }], body.message);
    const second = await move('second', { vmiName: 'db' });
    assert.deepEqual([second.status, /in-flight migration detected/.test(second.body.message ?? '')], [422, true]);
    await instance('web', movable);
    const changed = await world.send('PATCH', `${ALL}/virtualmachineinstancemigrations/first`, { spec: { vmiName: 'web' } });
    assert.deepEqual([changed.status, /cannot be changed/.test(changed.body.message ?? '')], [422, true]);
    const over = { status: { phase: 'Failed' } };
    assert.equal((await world.send('PATCH', `${ALL}/virtualmachineinstancemigrations/first/status`, over, OURS)).status, 200);
    assert.equal((await move('second', { vmiName: 'db' })).status, 201);
  });
});
