/** By which labels Services and policies find the Pod of an instance: those of the instance, and its names. Apart, because a list of ten thousand machines asks for them. Pure. */
import { shortened } from '../core/short-name.ts';
import { hostnameOf } from '../kubevirt/hostname.ts';
import { LABEL_VM_NAME, LABEL_VMI_ID } from '../kubevirt/names.ts';

type Labelled = {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec: { readonly hostname?: string };
};

export function podLabelsOf(vmi: Labelled): Record<string, string> {
  return { ...vmi.metadata.labels, [LABEL_VM_NAME]: hostnameOf(vmi), [LABEL_VMI_ID]: shortened(vmi.metadata.name) };
}
