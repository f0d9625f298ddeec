/** Starts a machine and follows it until its guest runs: script/node examples/typescript/machines.ts NAME */
import { VMS } from '../../src/api/kubevirt/kinds/virtual-machine.ts';
import { VMIS } from '../../src/api/kubevirt/kinds/virtual-machine-instance.ts';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { startCache } from '../../src/client/cache.ts';
import { type Client, createClient } from '../../src/client/client.ts';
import { loadKubeconfig } from '../../src/client/node/kubeconfig.ts';
import { createTlsFetch } from '../../src/client/node/tls-fetch.ts';

export type Options = { client: Client; namespace: string; name: string; print: (line: string) => void; signal: AbortSignal };

export async function startAndFollow({ client, namespace, name, print, signal }: Options): Promise<void> {
  // A list is typed by the resource it is of: `vm` is a VirtualMachine here.
  const { items } = await client.list(VMS, { namespace });
  for (const vm of items) print(`${vm.metadata.name}: ${vm.status?.printableStatus ?? 'Stopped'}`);

  // A merge patch changes what it names and nothing else.
  await client.patch(VMS, { namespace, name }, { spec: { running: null, runStrategy: 'Always' } }, { signal });

  // A watch that begins without a resourceVersion first tells what is there.
  const phases = client.watch(VMIS, { namespace, fieldSelector: `metadata.name=${name}`, signal });
  for await (const event of phases) {
    if (event.type === 'BOOKMARK' || event.type === 'DELETED') continue;
    print(`${name}: ${event.object.status?.phase ?? 'Pending'}`);
    if (event.object.status?.phase === 'Running') break;
  }

  // A cache is a list and a watch that repairs itself: for programs that stay, and ask often.
  const done = new AbortController();
  const vmis = startCache({ client, resource: VMIS, namespace, clock: systemClock, log: silentLogger, signal: done.signal });
  await vmis.synced;
  print(`running now: ${vmis.list().map((vmi) => `${vmi.metadata.name} on ${vmi.status?.nodeName}`)}`);
  done.abort();
}

if (import.meta.main) {
  const cluster = loadKubeconfig();
  const client = createClient({ fetch: createTlsFetch(cluster), baseUrl: cluster.server, userAgent: 'machines' });
  const [name = 'hello'] = process.argv.slice(2);
  await startAndFollow({ client, namespace: cluster.namespace ?? 'default', name, print: console.log, signal: AbortSignal.timeout(60_000) });
}
