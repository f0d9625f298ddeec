/** A Service: one address for the Pods that it selects. Only the fields that our components use. */
import type { KubeObject } from '../meta.ts';
import type { Resource } from '../resource.ts';

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
    readonly externalName?: string;
    readonly sessionAffinity?: string;
    readonly sessionAffinityConfig?: { readonly clientIP?: { readonly timeoutSeconds?: number } };
    readonly publishNotReadyAddresses?: boolean;
  };
};

export const SERVICES: Resource<Service> = { group: '', version: 'v1', plural: 'services', kind: 'Service', isNamespaced: true };
