/** API server, our definitions and webhooks, and virt-api behind them, as one process over TLS, which says how it fares when it is asked. */
import { userNameOf } from '../../../src/api/kubevirt/component-accounts.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { listen } from '../../../src/control-plane/apiserver/transport/listen.ts';
import { startAdmissionWorld } from '../../../src/virt-api/admission/admission-world.testing.ts';
import { type Stalls, startStallMeter } from './stall-meter.ts';
import { RUNNING } from './subresources.ts';

export type Told =
  | { readonly port: number; readonly ca: string; readonly cert: string; readonly key: string }
  | (Stalls & { readonly residentMiB: number });

const world = await startAdmissionWorld();
const upgrade = () => Promise.reject(new Error('nothing here leaves HTTP'));
const web = await listen({ handle: world.handle, upgrade, pki: world.pki, port: 0, log: silentLogger });
await keepRunning();
setInterval(keepRunning, 5_000).unref();
const stalls = startStallMeter();
const tell = (told: Told) => process.send?.(told);
stalls(); // what starting took is not a request's
tell({ port: web.port, ca: world.pki.ca, cert: world.pki.admin.cert, key: world.pki.admin.key });
process.on('message', () => tell({ ...stalls(), residentMiB: process.memoryUsage.rss() / 1024 / 1024 }));
process.once('disconnect', async () => {
  await web.close();
  await world.close();
});

/** Users cannot say of an instance that it runs; some of what they send deletes it. */
async function keepRunning(): Promise<void> {
  const path = '/apis/kubevirt.io/v1/namespaces/default';
  const spec = {
    domain: { memory: { guest: '64Mi' }, devices: { disks: [{ name: 'root', disk: { bus: 'virtio' } }] } },
    volumes: [{ name: 'root', emptyDisk: { capacity: '1Gi' } }],
  };
  const metadata = { name: RUNNING };
  const of = (kind: string) => ({ apiVersion: 'kubevirt.io/v1', kind, metadata });
  await world.send('POST', `${path}/virtualmachines`, { ...of('VirtualMachine'), spec: { runStrategy: 'Manual', template: { spec } } });
  const made = await world.send('POST', `${path}/virtualmachineinstances`, { ...of('VirtualMachineInstance'), spec });
  if (made.status !== 201) return;
  const conditions = [{ type: 'AgentConnected', status: 'True' }];
  const status = { phase: 'Running', nodeName: 'n1', interfaces: [{ name: 'default' }], conditions };
  await world.send('PATCH', `${path}/virtualmachineinstances/${RUNNING}`, { status }, userNameOf('virt-controller'));
}
