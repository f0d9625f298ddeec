/** The remaining built-in kinds that our components read or write, each with only the fields they use. */

import type { KubeObject } from '../meta.ts';
import type { Resource } from '../resource.ts';

export type Namespace = KubeObject & { readonly kind: 'Namespace'; readonly status?: { readonly phase?: string } };
export type ConfigMap = KubeObject & { readonly kind: 'ConfigMap'; readonly data?: Readonly<Record<string, string>> };
export type Secret = KubeObject & { readonly kind: 'Secret'; readonly type?: string; readonly data?: Readonly<Record<string, string>> };
export type ServiceAccount = KubeObject & { readonly kind: 'ServiceAccount' };
export type Lease = KubeObject & {
  readonly kind: 'Lease';
  readonly spec: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
};
export type ControllerRevision = KubeObject & { readonly kind: 'ControllerRevision'; readonly revision: number; readonly data?: unknown };
export type ServicePort = {
  readonly name?: string;
  readonly port: number;
  readonly targetPort?: number | string;
  readonly protocol?: string;
  readonly nodePort?: number;
};
export type Service = KubeObject & {
  readonly kind: 'Service';
  readonly spec: {
    readonly selector?: Readonly<Record<string, string>>;
    readonly ports?: readonly ServicePort[];
    readonly clusterIP?: string;
    readonly type?: string;
    readonly publishNotReadyAddresses?: boolean;
  };
};
export type EndpointSlice = KubeObject & {
  readonly kind: 'EndpointSlice';
  readonly addressType: 'IPv4' | 'IPv6' | 'FQDN';
  readonly ports?: readonly { readonly name?: string; readonly port?: number; readonly protocol?: string }[];
  readonly endpoints: readonly {
    readonly addresses: readonly string[];
    readonly conditions?: { readonly ready?: boolean; readonly serving?: boolean; readonly terminating?: boolean };
    readonly nodeName?: string;
    readonly targetRef?: { readonly kind?: string; readonly namespace?: string; readonly name?: string; readonly uid?: string };
  }[];
};

export const NAMESPACES: Resource<Namespace> = { group: '', version: 'v1', plural: 'namespaces', kind: 'Namespace', isNamespaced: false };
export const CONFIG_MAPS: Resource<ConfigMap> = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', isNamespaced: true };
export const SECRETS: Resource<Secret> = { group: '', version: 'v1', plural: 'secrets', kind: 'Secret', isNamespaced: true };
export const SERVICE_ACCOUNTS: Resource<ServiceAccount> = {
  group: '',
  version: 'v1',
  plural: 'serviceaccounts',
  kind: 'ServiceAccount',
  isNamespaced: true,
};
export const SERVICES: Resource<Service> = { group: '', version: 'v1', plural: 'services', kind: 'Service', isNamespaced: true };
export const LEASES: Resource<Lease> = { group: 'coordination.k8s.io', version: 'v1', plural: 'leases', kind: 'Lease', isNamespaced: true };
export const ENDPOINT_SLICES: Resource<EndpointSlice> = {
  group: 'discovery.k8s.io',
  version: 'v1',
  plural: 'endpointslices',
  kind: 'EndpointSlice',
  isNamespaced: true,
};
export const CONTROLLER_REVISIONS: Resource<ControllerRevision> = {
  group: 'apps',
  version: 'v1',
  plural: 'controllerrevisions',
  kind: 'ControllerRevision',
  isNamespaced: true,
};
