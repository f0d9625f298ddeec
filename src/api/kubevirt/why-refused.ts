/** Why a published field is refused: the words are in the record of the kind. */
import type { KindRecord } from '../kind.ts';

/** The reason for `domain.devices.disks[].lun` in the spec of an instance. Undefined when nobody wrote it down. */
export function whyRefused({ refused = {} }: Pick<KindRecord, 'refused'>, path: string): string | undefined {
  const begins = Object.keys(refused).filter((prefix) => path.startsWith(prefix));
  return refused[begins.sort((a, b) => b.length - a.length)[0] ?? ''];
}
