/** Boot order: positive, and no two devices have the same. */
import { duplicateCause, invalidCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import type { CheckedSpec } from './checked-spec.ts';

export function validateBootOrder({ domain }: CheckedSpec, path: string): StatusCause[] {
  const seen = new Set<number>();
  return (['disks', 'interfaces'] as const).flatMap((kind) =>
    (domain?.devices?.[kind] ?? []).flatMap(({ bootOrder }, index) => {
      if (bootOrder === undefined) return [];
      const field = `${path}.domain.devices.${kind}[${index}].bootOrder`;
      if (bootOrder < 1) return [invalidCause(field, bootOrder, 'must be greater than 0')];
      if (seen.has(bootOrder)) return [duplicateCause(field, bootOrder)];
      seen.add(bootOrder);
      return [];
    }),
  );
}
