/**
 * What this Pod does for Services: connections to it are passed on to its machine. The Pod is ready when the machine is and every port is
 * served; a connection that comes while the machine starts, or starts again, waits for it.
 */
import type { Pod } from '../api/core/pod.ts';
import { SERVICES } from '../api/core/service.ts';
import { vmiIs } from '../api/kubevirt/condition-reasons.ts';
import type { VirtualMachineInstance } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import { isDeleting, keyOf } from '../api/meta.ts';
import type { Clock } from '../base/clock.ts';
import { messageOf, UserError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { type Cache, startCache } from '../client/cache.ts';
import type { Client } from '../client/client.ts';
import type { Cluster } from '../client/node/kubeconfig.ts';
import { decidePorts } from './decide-ports.ts';
import { PodPortForwards } from './forwards.ts';
import { openGuestPort } from './guest-port.ts';
import { serveReadiness } from './serve-readiness.ts';

type ServePodOptions = {
  readonly client: Client;
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly pod: Pod;
  readonly address: string;
  /** Holds the instance of the machine, of all. */
  readonly vmis: Cache<VirtualMachineInstance>;
};

/** How long a connection waits for a machine that is not ready. */
const PATIENCE_MS = 60_000;
const TRY_AGAIN_MS = 10_000;

/** Serves until the signal aborts. */
export async function servePod(options: ServePodOptions): Promise<void> {
  if (options.signal.aborted) return;
  const { cluster, clock, log, signal, pod, address, vmis } = options;
  const services = startCache({ ...options, resource: SERVICES, namespace: pod.metadata.namespace });
  const open = async (port: number) => openGuestPort(await untilReady(vmis, clock), port, cluster);
  const forwards = new PodPortForwards({ address, open, log });
  let isComplete = false;
  const whyNotReady = () => {
    if (!isComplete) return 'the Services of the namespace are not known yet';
    if (!readyOf(vmis)) return 'the virtual machine is not ready';
    return forwards.failures[0];
  };
  const readiness = await serveReadiness(address, whyNotReady).catch((error: unknown) => {
    log.error('cannot tell whether this Pod is ready', { error: messageOf(error) });
    return undefined;
  });
  let wake = () => {};
  services.subscribe(() => wake());
  await services.synced.catch(() => {}); // only ends without success when everything does
  while (!signal.aborted) {
    const changed = new AbortController();
    wake = () => changed.abort();
    await forwards.keep(decidePorts(pod, services.list()));
    isComplete = true;
    await clock.sleep(TRY_AGAIN_MS, AbortSignal.any([signal, changed.signal]));
  }
  forwards.close();
  readiness?.close();
  readiness?.closeAllConnections();
}

function readyOf(vmis: Cache<VirtualMachineInstance>): VirtualMachineInstance | undefined {
  return vmis.list().find((vmi) => !isDeleting(vmi) && vmiIs(vmi, 'Ready'));
}

async function untilReady(vmis: Cache<VirtualMachineInstance>, clock: Clock): Promise<VirtualMachineInstance> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const late = new AbortController();
  const unsubscribe = vmis.subscribe(() => {
    if (readyOf(vmis)) resolve();
  });
  try {
    await Promise.race([promise, clock.sleep(PATIENCE_MS, late.signal)]);
  } finally {
    unsubscribe();
    late.abort();
  }
  const vmi = readyOf(vmis);
  if (vmi) return vmi;
  const names = vmis.list().map(({ metadata }) => keyOf(metadata));
  throw new UserError('NOT_READY', `the virtual machine ${names[0] ?? ''} was not ready within ${PATIENCE_MS / 1000} s`);
}
