import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolumeClaim } from '../api/core/volume.ts';
import { vm, vmi } from '../testing/builders.ts';
import { deriveImageRows } from './derive-images.ts';
import { deriveMachines, type Machine } from './derive-machines.ts';
import {
  deriveFreeClaims,
  emptyClaim,
  isKept,
  newClaimName,
  type Plug,
  plugBody,
  plugCommands,
  plugTarget,
  unplugCommand,
} from './derive-plug.ts';

const volume = (name: string) => ({ name, persistentVolumeClaim: { claimName: name } });
const claim = (name: string, namespace = 'default'): PersistentVolumeClaim => emptyClaim(namespace, { ...PLUG, claim: name });
const PLUG: Plug = { claim: 'data', size: '1Gi', bus: 'scsi', stays: true };

/** A machine that has `root`, whose instance has `kept` of it and `only` alone. */
function machine(): Machine {
  const [template, instance] = [vm('Always'), vmi('Running', { nodeName: 'n1' })];
  const spec = { ...template.spec.template.spec, volumes: [volume('root'), volume('kept')] };
  const [found] = deriveMachines(
    [{ ...template, spec: { ...template.spec, template: { spec } } }],
    [{ ...instance, spec: { ...instance.spec, volumes: [volume('root'), volume('kept'), volume('only')] } }],
  );
  return found ?? assert.fail('there is one');
}

test('a disk can be attached that no machine of the namespace has, nor the instance of one alone', () => {
  const claims = ['root', 'only', 'free', 'going'].map((name) => claim(name));
  const going = { ...claim('going'), metadata: { ...claim('going').metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
  assert.deepEqual(deriveFreeClaims(machine(), [...claims.slice(0, 3), going, claim('there', 'team')], [machine()]), ['free']);
  const [row] = deriveImageRows([], [claim('only')], [machine()]);
  assert.deepEqual(row?.users, [machine().name], 'and under Images it is not free to be deleted');
});

test('a new disk has a name that no other has', () => {
  assert.equal(newClaimName('web', [claim('web-data-1'), claim('web-data-3')]), 'web-data-2');
});

test('what stays is the machine’s, what does not is that of its instance, and the commands do the same', () => {
  const one = machine();
  const { name } = one;
  assert.deepEqual([plugTarget(one, true), plugTarget(one, false)], ['virtualmachines', 'virtualmachineinstances']);
  assert.deepEqual([isKept(one, 'kept'), isKept(one, 'only')], [true, false]);
  assert.deepEqual(plugCommands(one, { ...PLUG, bus: 'virtio', stays: false }, undefined), [
    `virtctl addvolume ${name} --volume-name data --bus virtio`,
  ]);
  const [made, plugged] = plugCommands(one, PLUG, emptyClaim('default', PLUG));
  assert.match(made ?? '', /^kubectl create -f - <<< '\{.*"storage":"1Gi".*\}'$/);
  assert.equal(plugged, `virtctl addvolume ${name} --volume-name data --persist`);
  assert.deepEqual(unplugCommand({ ...one, namespace: 'team' }, 'only'), `virtctl removevolume ${name} --volume-name only -n team`);
  assert.equal(unplugCommand(one, 'kept'), `virtctl removevolume ${name} --volume-name kept --persist`);
  assert.deepEqual(plugBody(PLUG), {
    name: 'data',
    disk: { disk: { bus: 'scsi' }, serial: 'data' },
    volumeSource: { persistentVolumeClaim: { claimName: 'data', hotpluggable: true } },
  });
});
