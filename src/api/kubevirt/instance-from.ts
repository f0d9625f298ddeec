/** A new instance from the template that every kind which makes instances carries. Pure. */
import { controllerReferenceTo, type KubeObject, type ObjectMeta } from '../meta.ts';
import type { Static } from '../schema/dsl.ts';
import type { instanceTemplateSchema } from './instance-template-schema.ts';
import type { VirtualMachineInstance } from './kinds/virtual-machine-instance.ts';
import { FINALIZER_VMI } from './names.ts';
import { normaliseVmiSpec } from './normalise-vmi-spec.ts';

type Source = {
  readonly owner: KubeObject;
  readonly template: Static<typeof instanceTemplateSchema>;
  /** How it is to be called: one name, or how names begin. */
  readonly named: { readonly name: string } | { readonly generateName: string };
};

/** In today's spelling, controlled by its owner, and held until all its Pods are gone. */
export function instanceFrom({ owner, template, named }: Source): VirtualMachineInstance {
  const metadata: ObjectMeta = {
    name: '',
    ...named,
    namespace: owner.metadata.namespace,
    labels: { ...template.metadata?.labels },
    annotations: { ...template.metadata?.annotations },
    ownerReferences: [controllerReferenceTo(owner)],
    finalizers: [FINALIZER_VMI],
  };
  return { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', metadata, spec: normaliseVmiSpec(template.spec) };
}
