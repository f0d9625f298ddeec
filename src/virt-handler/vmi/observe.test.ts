import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PODS } from '../../api/core/pod.ts';
import { VMIS, type VmiStatus } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { keyOf } from '../../api/meta.ts';
import { silentLogger } from '../../base/log.ts';
import { temporaryFolder } from '../../qemu/qmp/qemu.testing.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { handFedCache } from '../../testing/hand-fed-cache.ts';
import { ScriptedApi } from '../../testing/scripted-api.ts';
import { moving, targetPod, told } from '../migration/moves.testing.ts';
import { POD_INDEXES } from '../node-caches.ts';
import { Domains } from './domains.ts';
import { hasLeftFor, observeDomain } from './observe.ts';
import { deleted, livePod, running } from './world.testing.ts';

const vmi = running();
const key = keyOf(vmi.metadata);
const podUid = livePod().metadata.uid ?? '';

test('looking at a guest changes nothing: nobody listens to it and its grace period does not begin', async (t) => {
  const { vmis, domains, look } = await node(t);
  vmis.put(deleted(30));
  const first = await look();
  assert.deepEqual([first?.followed, first?.domain.state, first?.stoppingSince], [undefined, 'connecting', undefined]);
  assert.deepEqual([domains.followed(key), await look()], [undefined, first]);
});

test('a guest that is listened to is seen, with the beginning of its grace period', async (t) => {
  const { domains, look, clock } = await node(t);
  domains.act({ do: 'follow', podUid, because: 'it is here' }, vmi);
  domains.act({ do: 'start grace period', because: 'it is to stop' }, vmi);
  const seen = await look();
  assert.deepEqual([seen?.followed?.podUid, seen?.stoppingSince], [podUid, clock.now()]);
});

test('of another guest of its name nothing is seen', async (t) => {
  const { domains, look } = await node(t);
  domains.act({ do: 'follow', podUid, because: 'it is here' }, { ...vmi, metadata: { ...vmi.metadata, uid: 'vmi-0' } });
  domains.act({ do: 'start grace period', because: 'it is to stop' }, vmi);
  assert.equal((await look())?.stoppingSince, undefined);
});

test('a VMI that has left is seen for as long as somebody listens to its guest', async (t) => {
  const { vmis, domains, look } = await node(t);
  domains.act({ do: 'follow', podUid, because: 'it is here' }, vmi);
  vmis.remove(vmi);
  assert.equal((await look())?.hasLeft, true);
  domains.act({ do: 'forget', because: 'it has left' }, vmi);
  assert.equal(await look(), undefined);
});

test('an instance has left a Pod when the server knows it in another one on another node', () => {
  const pod = livePod();
  const sourcePod = pod.metadata.name;
  const moved = { sourcePod, targetPod: 'virt-launcher-db-other', completed: true };
  const left = (status: Partial<VmiStatus>) => hasLeftFor(running(status), { pod, nodeName: 'n1' });
  assert.equal(left({ nodeName: 'n2', migrationState: moved }), true);
  assert.deepEqual(
    [
      left({ nodeName: 'n1', migrationState: moved }),
      left({ nodeName: 'n2', migrationState: { ...moved, completed: false } }),
      left({ nodeName: 'n2' }),
      left({ migrationState: moved }),
    ],
    [false, false, false, false],
  );
});

test('a Pod that an instance comes to is gone when the server does not know it either', async (t) => {
  const { vmis, incoming, api, look } = await node(t);
  vmis.remove(vmi);
  incoming.put(moving(told));
  const gone = look();
  await api.refuse('NotFound', 404);
  assert.equal((await gone)?.isPodGone, true);
  const there = look();
  await api.answer(targetPod);
  assert.equal((await there)?.isPodGone, false);
  const over = moving({ ...told, failed: true });
  incoming.put({ ...over, metadata: { ...over.metadata, resourceVersion: '2' } });
  assert.equal((await look())?.isPodGone, false, 'nobody is asked when the move is over');
});

async function node(t: Parameters<typeof temporaryFolder>[0]) {
  const clock = new FakeClock();
  const vmis = handFedCache(VMIS);
  const incoming = handFedCache(VMIS);
  const pods = handFedCache(PODS, POD_INDEXES);
  vmis.put(vmi);
  pods.put(livePod());
  const takesConnection = async () => undefined;
  const domains = new Domains({ kubeletRoot: await temporaryFolder(t), clock, log: silentLogger, takesConnection });
  t.after(() => domains.close());
  const api = new ScriptedApi();
  const look = () => observeDomain(key, { client: api.client, clock, nodeName: 'n1', vmis, incoming, pods, domains });
  return { clock, vmis, incoming, domains, api, look };
}
