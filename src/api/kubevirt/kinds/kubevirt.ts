/** KubeVirt: the configuration of an installation, one object in it. */
import type { KubeObject } from '../../meta.ts';
import type { Resource } from '../../resource.ts';
import type { Static } from '../../schema/dsl.ts';
import type { kubeVirtSpecSchema, kubeVirtStatusSchema } from './kubevirt-schema.ts';

export type KubeVirtStatus = Static<typeof kubeVirtStatusSchema>;
export type KubeVirt = KubeObject & {
  readonly kind: 'KubeVirt';
  readonly spec: Static<typeof kubeVirtSpecSchema>;
  readonly status?: KubeVirtStatus;
};

export const KUBEVIRTS: Resource<KubeVirt> = {
  group: 'kubevirt.io',
  version: 'v1',
  plural: 'kubevirts',
  kind: 'KubeVirt',
  isNamespaced: true,
};
