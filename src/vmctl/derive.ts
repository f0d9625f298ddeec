/**
 * The machine that belongs to a Pod, made from its prototype. Pure.
 *
 *   name             PROTOTYPE-PODNAME
 *   runStrategy      Always, whatever the prototype's
 *   nodeSelector     the Pod's node, besides what the prototype asks for
 *   firmware, MACs   uuid, serial and macAddress are left out: two machines must not have the same
 *   labels           the prototype's are on the machine and on its instance, so that a Service on them finds it
 *   belongs to       the Pod: by owner reference in one namespace, by label across two, where Kubernetes forbids owners
 */
import type { Pod } from '../api/core/pod.ts';
import type { VirtualMachine } from '../api/kubevirt/kinds/virtual-machine.ts';
import { ANNOTATION_VMCTL_POD, ANNOTATION_VMCTL_PROTOTYPE, LABEL_VMCTL_POD_UID } from '../api/kubevirt/names.ts';
import { keyOf, type ObjectMeta } from '../api/meta.ts';

export type Derivation = {
  readonly prototype: VirtualMachine;
  readonly namespace: string;
  readonly name: string;
  /** None outside a Pod: then there is neither pin nor owner. */
  readonly pod?: Pod;
};
type Spec = VirtualMachine['spec'];
type Template = Spec['template'];

const HOSTNAME = 'kubernetes.io/hostname';
/** Annotations in which tools keep something about that object alone. */
const OF_ONE_OBJECT = /^(?:kubectl\.kubernetes\.io\/|kubevirt\.io\/)/;

/** The machine to create. */
export function deriveVm({ prototype, namespace, name, pod }: Derivation): VirtualMachine {
  const { running: _, ...spec } = prototype.spec;
  const { [LABEL_VMCTL_POD_UID]: __, ...labels } = prototype.metadata.labels ?? {}; // the prototype may be a derived machine itself
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: {
      name,
      namespace,
      labels: { ...labels, ...(pod && { [LABEL_VMCTL_POD_UID]: pod.metadata.uid ?? '' }) },
      annotations: {
        ...carriedAnnotations(prototype),
        [ANNOTATION_VMCTL_PROTOTYPE]: keyOf(prototype.metadata),
        ...(pod && { [ANNOTATION_VMCTL_POD]: keyOf(pod.metadata) }),
      },
      ...ownerOf(pod, namespace),
    },
    spec: { ...spec, runStrategy: 'Always', template: templateFrom(spec.template, { labels, pod }) },
  };
}

function carriedAnnotations({ metadata }: VirtualMachine): Record<string, string> {
  return Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([key]) => !OF_ONE_OBJECT.test(key)));
}

/** Without blockOwnerDeletion, which only who may change the Pod's finalizers may set. */
function ownerOf(pod: Pod | undefined, namespace: string): Pick<ObjectMeta, 'ownerReferences'> {
  if (!pod || pod.metadata.namespace !== namespace) return {};
  const { name, uid = '' } = pod.metadata;
  return { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid, controller: true }] };
}

function templateFrom(
  { metadata, spec }: Template,
  { labels, pod }: { labels: Readonly<Record<string, string>>; pod: Pod | undefined },
): Template {
  const nodeName = pod?.spec.nodeName;
  const { firmware, devices } = spec.domain;
  const { uuid: _, serial: __, ...otherFirmware } = firmware ?? {};
  const interfaces = devices.interfaces?.map(({ macAddress: ___, ...card }) => card);
  return {
    metadata: { ...metadata, labels: { ...metadata?.labels, ...labels } },
    spec: {
      ...spec,
      ...(nodeName && { nodeSelector: { ...spec.nodeSelector, [HOSTNAME]: nodeName } }),
      domain: { ...spec.domain, ...(firmware && { firmware: otherFirmware }), devices: { ...devices, ...(interfaces && { interfaces }) } },
    },
  };
}
