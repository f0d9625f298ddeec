/** Keeps the EndpointSlices of Services with selectors: which addresses and ports stand behind each; and Endpoints, for older clients. */
import { ENDPOINT_SLICES } from '../../api/core/endpoint-slice.ts';
import { ENDPOINTS } from '../../api/core/endpoints.ts';
import { PODS, type Pod } from '../../api/core/pod.ts';
import { SERVICES } from '../../api/core/service.ts';
import { type KubeObject, keyOf } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { matchesLabels, requirementsOf } from '../../base/selectors.ts';
import { startCache } from '../../client/cache.ts';
import type { Client } from '../../client/client.ts';
import { runController } from '../../reconcile/controller.ts';
import { changesOf } from '../../reconcile/source.ts';
import { decideEndpoints, type ObservedEndpoints } from './decide-endpoints.ts';
import { decideSlices, LABEL_SERVICE_NAME, type ObservedService } from './decide-slices.ts';

export type ServicesOptions = { readonly client: Client; readonly clock: Clock; readonly log: Logger; readonly signal: AbortSignal };

/** Runs until the signal aborts. */
export function runEndpointSlices(options: ServicesOptions): Promise<unknown> {
  const byNamespace = { namespace: ({ metadata }: KubeObject) => [metadata.namespace ?? ''] };
  const services = startCache({ ...options, resource: SERVICES, indexes: byNamespace });
  const pods = startCache({ ...options, resource: PODS, indexes: byNamespace });
  const slices = startCache({ ...options, resource: ENDPOINT_SLICES, indexes: { service: (slice) => serviceOf(slice) } });

  /** The Services that may select this Pod. */
  function selecting({ metadata }: Pod): string[] {
    return services
      .byIndex('namespace', metadata.namespace ?? '')
      .filter(({ spec }) => matchesLabels(requirementsOf({ matchLabels: spec.selector ?? {} }), metadata.labels ?? {}))
      .map((service) => keyOf(service.metadata));
  }

  const endpoints = startCache({ ...options, resource: ENDPOINTS });
  const running = runController<ObservedService>({
    ...options,
    name: 'endpoint-slice-controller',
    triggers: [changesOf(services, ({ metadata }) => [keyOf(metadata)]), changesOf(pods, selecting), changesOf(slices, serviceOf)],
    observe: (key) => {
      const service = services.get(key);
      if (!service) return undefined;
      return { service, pods: pods.byIndex('namespace', service.metadata.namespace ?? ''), slices: slices.byIndex('service', key) };
    },
    decide: decideSlices,
    subject: ({ service }) => service,
  });
  const mirroring = runController<ObservedEndpoints & { readonly subject: KubeObject }>({
    ...options,
    name: 'endpoint-controller',
    triggers: [
      changesOf(services, ({ metadata }) => [keyOf(metadata)]),
      changesOf(endpoints, ({ metadata }) => [keyOf(metadata)]),
      changesOf(slices, serviceOf),
    ],
    observe: (key) => {
      const service = services.get(key);
      const mirrored = endpoints.get(key);
      const subject = service ?? mirrored;
      return subject && { service, slices: slices.byIndex('service', key), endpoints: mirrored, subject };
    },
    decide: decideEndpoints,
    subject: ({ subject }) => subject,
  });
  return Promise.all([running, mirroring]);
}

function serviceOf({ metadata }: KubeObject): string[] {
  const name = metadata.labels?.[LABEL_SERVICE_NAME];
  return name === undefined ? [] : [keyOf({ namespace: metadata.namespace, name })];
}
