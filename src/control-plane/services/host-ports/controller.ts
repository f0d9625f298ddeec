/** Keeps what Services say of the ports of the host that lead to them. */
import { SERVICES } from '../../../api/core/service.ts';
import { keyOf } from '../../../api/meta.ts';
import { startCache } from '../../../client/cache.ts';
import { runController } from '../../../reconcile/controller.ts';
import { changesOf, WakeUps } from '../../../reconcile/source.ts';
import type { ServicesOptions } from '../controller.ts';
import { decideListeners, type ListenerOptions, listenerKey } from '../decide-listeners.ts';
import { decideHostAddresses, type ObservedHostPorts } from './decide-host-ports.ts';
import type { HostPorts } from './host-ports.ts';

export type HostAddressesOptions = ServicesOptions & { readonly hostPorts: HostPorts; readonly listeners: ListenerOptions };

/** Runs until the signal aborts. */
export async function runHostAddresses(options: HostAddressesOptions): Promise<void> {
  const { hostPorts, listeners } = options;
  const services = startCache({
    ...options,
    resource: SERVICES,
    indexes: { listener: (service) => decideListeners(service, [], listeners).map(listenerKey) },
  });
  const changes = new WakeUps();
  const stop = hostPorts.subscribe((key) => {
    for (const { metadata } of services.byIndex('listener', key)) changes.wake(keyOf(metadata));
  });
  await runController<ObservedHostPorts>({
    ...options,
    name: 'host-ports',
    triggers: [changesOf(services, ({ metadata }) => [keyOf(metadata)]), changes],
    observe: (key) => {
      const service = services.get(key);
      return service && { service, options: listeners, stateOf: (each) => hostPorts.stateOf(each) };
    },
    decide: decideHostAddresses,
    subject: ({ service }) => service,
  });
  stop();
}
