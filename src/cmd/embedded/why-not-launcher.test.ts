import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../api/core/pod.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { dumpVolumeFor } from '../../api/kubevirt/volumes/dump-volume.ts';
import { attachmentPodNameOf } from '../../api/launcher/attachment.ts';
import { dumpPodNameOf } from '../../api/launcher/memory-dump.ts';
import { controllerReferenceTo, type KubeObject } from '../../api/meta.ts';
import type { Client } from '../../client/client.ts';
import { launcherPod, tinySpec, vmi } from '../../testing/builders.ts';
import { machineOf, whyNotLauncher } from './why-not-launcher.ts';

const launcher = launcherPod({ running: { startedAt: '2026-01-01T00:00:00Z' } });
const data = { name: 'data', persistentVolumeClaim: { claimName: 'data', hotpluggable: true } };
const plugged: VirtualMachineInstance = { ...vmi('Running'), spec: { ...tinySpec, volumes: [...(tinySpec.volumes ?? []), data] } };
const attachment: Pod = {
  ...launcher,
  metadata: {
    name: attachmentPodNameOf(plugged, 'data'),
    namespace: 'default',
    uid: 'pod-2',
    ownerReferences: [controllerReferenceTo(launcher)],
  },
};

/** Has these objects. */
function clientWith(...objects: readonly KubeObject[]): Client {
  const get = async ({ kind }: { kind: string }, { name }: { name: string }) =>
    objects.find((object) => object.kind === kind && object.metadata.name === name);
  return { get } as unknown as Client; // nothing else is asked of it
}

test('the launcher of an instance, and the Pod that attaches a volume to it, run its machine', async () => {
  const client = clientWith(plugged, launcher);
  for (const pod of [launcher, attachment]) assert.equal(await machineOf(client, pod), 'VirtualMachineInstance default/db');
});

const dumped = { ...vmi('Running'), spec: { ...vmi('Running').spec, volumes: [dumpVolumeFor('dump')] } };
const dumping: Pod = { ...attachment, metadata: { ...attachment.metadata, name: dumpPodNameOf(dumped) } };

test('so does the Pod that a dump of its memory goes to, while there is one', async () => {
  assert.equal(await machineOf(clientWith(dumped, launcher), dumping), 'VirtualMachineInstance default/db');
  assert.equal(await machineOf(clientWith(vmi('Running'), launcher), dumping), undefined);
});

const strangers: readonly (readonly [string, readonly KubeObject[], Pod])[] = [
  ['a Pod for a volume that the instance does not have', [vmi('Running'), launcher], attachment],
  [
    'a Pod that a launcher owns under another name',
    [plugged, launcher],
    { ...attachment, metadata: { ...attachment.metadata, name: 'other' } },
  ],
  ['a Pod whose launcher is gone', [plugged], attachment],
  [
    'a Pod whose owner only has the name of the launcher',
    [plugged, { ...launcher, metadata: { ...launcher.metadata, uid: 'another' } }],
    attachment,
  ],
  ['a Pod of a launcher that belongs to nobody', [launcher], attachment],
  ['a launcher under another name', [plugged], { ...launcher, metadata: { ...launcher.metadata, name: 'other' } }],
];
for (const [what, objects, pod] of strangers)
  test(`${what} is no launcher`, async () => {
    const client = clientWith(...objects);
    assert.match((await whyNotLauncher(client, pod)) ?? '', /only for Pods that virt-controller has made/);
    assert.equal(await machineOf(client, pod), undefined);
  });
