/** What a virt-handler that sends a guest says of where it runs, for the one that takes it. */
import { ApiError } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';

export type GuestHost = {
  /** Its version, by the first two numbers. */
  readonly qemu: string;
  readonly accelerator: 'kvm' | 'tcg';
  /** That of the node, where the guest has it. */
  readonly processor?: string;
  /** Digest of what the guest finds in its machine; not there in Pods of an earlier release. */
  readonly machine?: string;
  /** Digests of the disks that are made anew on another node, by their names. */
  readonly contents: Readonly<Record<string, string>>;
};

/** As it comes in a query. */
export function readGuestHost(text: unknown): GuestHost | undefined {
  if (text === undefined || text === '') return undefined;
  const given = parsed(String(text));
  const { qemu, accelerator, processor, machine, contents } = isObject(given) ? given : {};
  const digests = isObject(contents) ? Object.entries(contents) : [];
  if (typeof qemu !== 'string' || (accelerator !== 'kvm' && accelerator !== 'tcg'))
    throw new ApiError('BadRequest', 'host: Invalid value: must say qemu and accelerator');
  return {
    qemu,
    accelerator,
    ...(typeof processor === 'string' && { processor }),
    ...(typeof machine === 'string' && { machine }),
    contents: Object.fromEntries(digests.filter((each): each is [string, string] => typeof each[1] === 'string')),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
