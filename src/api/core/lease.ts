/** A Lease: who leads, and until when. Only the fields that our components use. */
import type { KubeObject } from '../meta.ts';
import type { Resource } from '../resource.ts';

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

export const LEASES: Resource<Lease> = { group: 'coordination.k8s.io', version: 'v1', plural: 'leases', kind: 'Lease', isNamespaced: true };
