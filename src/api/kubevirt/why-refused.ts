/** Why a published field is refused: the words are in the record of the kind. */
import type { KindRecord } from '../kind.ts';
import { VMIS } from './kinds/virtual-machine-instance.ts';

/** Where the spec of one kind stands inside that of others: what is refused there is refused for the reasons of that kind. */
export const NESTED_SPECS: readonly (readonly [at: string, of: KindRecord])[] = [['template.spec.', VMIS]];

/** The reason for `domain.devices.disks[].lun`, or in a VirtualMachine for `template.spec.domain.devices.disks[].lun`. Undefined when nobody wrote it down. */
export function whyRefused({ refused = {} }: Pick<KindRecord, 'refused'>, path: string): string | undefined {
  const nested = NESTED_SPECS.find(([at]) => path.startsWith(at));
  if (nested) return whyRefused(nested[1], path.slice(nested[0].length));
  const begins = Object.keys(refused).filter((prefix) => path.startsWith(prefix));
  return refused[begins.sort((a, b) => b.length - a.length)[0] ?? ''];
}
