/** Boot order: no two devices have the same. */
import type { VmiSpec } from '../../../api/kubevirt/vmi-spec-schema.ts';
import { duplicateCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';

export function validateBootOrder({ domain }: VmiSpec, path: string): StatusCause[] {
  const seen = new Set<number>();
  return (['disks', 'interfaces'] as const).flatMap((list) =>
    (domain.devices[list] ?? []).flatMap(({ bootOrder }, index) => {
      if (bootOrder === undefined) return [];
      if (seen.has(bootOrder)) return [duplicateCause(`${path}.domain.devices.${list}[${index}].bootOrder`, bootOrder)];
      seen.add(bootOrder);
      return [];
    }),
  );
}
