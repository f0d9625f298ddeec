/** An EndpointSlice: the addresses behind a Service. Only the fields that our components use. */
import type { KubeObject } from '../meta.ts';
import type { Resource } from '../resource.ts';

export type EndpointSlice = KubeObject & {
  readonly kind: 'EndpointSlice';
  readonly addressType: 'IPv4' | 'IPv6' | 'FQDN';
  readonly ports?: readonly { readonly name?: string; readonly port?: number; readonly protocol?: string }[];
  readonly endpoints: readonly {
    readonly addresses: readonly string[];
    readonly conditions?: { readonly ready?: boolean; readonly serving?: boolean; readonly terminating?: boolean };
    readonly hostname?: string;
    readonly nodeName?: string;
    readonly targetRef?: { readonly kind?: string; readonly namespace?: string; readonly name?: string; readonly uid?: string };
  }[];
};

export const ENDPOINT_SLICES: Resource<EndpointSlice> = {
  group: 'discovery.k8s.io',
  version: 'v1',
  plural: 'endpointslices',
  kind: 'EndpointSlice',
  isNamespaced: true,
};
