/** The machine with a number that a pool's template describes. Pure. */
import type { VirtualMachinePool } from '../../api/kubevirt/kinds/pool.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { Volume } from '../../api/kubevirt/vmi-spec-schema.ts';
import { controllerReferenceTo } from '../../api/meta.ts';
import { LABEL_POOL_REVISION } from './revision.ts';

/** `NAME-7` is number 7; undefined for a machine that came from elsewhere. */
export function indexOf(pool: VirtualMachinePool, name: string): number | undefined {
  const prefix = `${pool.metadata.name}-`;
  const rest = name.startsWith(prefix) ? name.slice(prefix.length) : '';
  return /^(0|[1-9][0-9]{0,8})$/.test(rest) ? Number(rest) : undefined;
}

export function vmFor(pool: VirtualMachinePool, index: number, revision: string): VirtualMachine {
  const { metadata } = pool.spec.virtualMachineTemplate;
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: {
      name: `${pool.metadata.name}-${index}`,
      namespace: pool.metadata.namespace,
      labels: { ...metadata?.labels, [LABEL_POOL_REVISION]: revision },
      ...(metadata?.annotations && { annotations: metadata.annotations }),
      ownerReferences: [controllerReferenceTo(pool)],
    },
    spec: specFor(pool, index, revision),
  };
}

/** Its spec; a machine without a number (one that was adopted) refers to what the template names. */
export function specFor(pool: VirtualMachinePool, index: number | undefined, revision: string): VirtualMachine['spec'] {
  const spec = pool.spec.virtualMachineTemplate.spec ?? { template: { spec: { domain: { devices: {} } } } };
  const { template } = spec;
  const { volumes } = template.spec;
  return {
    ...spec,
    template: {
      ...template,
      metadata: { ...template.metadata, labels: { ...template.metadata?.labels, [LABEL_POOL_REVISION]: revision } },
      spec: { ...template.spec, ...(volumes && { volumes: volumes.map((volume) => numbered(pool, volume, index)) }) },
    },
  };
}

function numbered({ spec: { nameGeneration = {} } }: VirtualMachinePool, volume: Volume, index: number | undefined): Volume {
  if (index === undefined) return volume;
  const { configMap, secret } = volume;
  if (configMap?.name && nameGeneration.appendIndexToConfigMapRefs)
    return { ...volume, configMap: { ...configMap, name: `${configMap.name}-${index}` } };
  if (secret?.secretName && nameGeneration.appendIndexToSecretRefs)
    return { ...volume, secret: { ...secret, secretName: `${secret.secretName}-${index}` } };
  return volume;
}
