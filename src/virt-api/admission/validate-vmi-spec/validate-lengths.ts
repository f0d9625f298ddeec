/**
 * Lists that the rules compare with each other have the lengths that the schema gives them, before anything else is looked at: no schema has seen what
 * comes by expand-vm-spec, or from somebody who calls a webhook without the API server.
 */
import type { VmiSpec } from '../../../api/kubevirt/vmi-spec-schema.ts';
import { tooManyCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';

const MOST = 256;

export function validateLengths({ volumes, networks, accessCredentials, domain: { cpu, devices } }: VmiSpec, path: string): StatusCause[] {
  const { disks, interfaces, filesystems, inputs, panicDevices } = devices;
  const lists: readonly (readonly [at: string, list: unknown])[] = [
    ['volumes', volumes],
    ['networks', networks],
    ['accessCredentials', accessCredentials],
    ['domain.cpu.features', cpu?.features],
    ...Object.entries({ disks, interfaces, filesystems, inputs, panicDevices }).map(
      ([name, list]) => [`domain.devices.${name}`, list] as const,
    ),
  ];
  return lists.flatMap(([at, list]) =>
    Array.isArray(list) && list.length > MOST ? [tooManyCause(`${path}.${at}`, list.length, MOST)] : [],
  );
}
