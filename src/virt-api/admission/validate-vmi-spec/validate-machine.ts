/** The board: its architecture and its type must be ones that we have. */
import { invalidCause, unsupportedCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import type { CheckedSpec } from './checked-spec.ts';

const TYPES: Readonly<Record<string, { readonly pattern: RegExp; readonly shown: string }>> = {
  amd64: { pattern: /^(pc-)?q35(-[a-z0-9.]+)*$/, shown: 'q35*, pc-q35*' },
  arm64: { pattern: /^virt(-[a-z0-9.]+)*$/, shown: 'virt*' },
  s390x: { pattern: /^s390-ccw-virtio(-[a-z0-9.]+)*$/, shown: 's390-ccw-virtio*' },
};

export function validateMachine({ domain, architecture }: CheckedSpec, path: string): StatusCause[] {
  const board = TYPES[architecture || 'amd64'];
  if (!board) return [unsupportedCause(`${path}.architecture`, architecture, Object.keys(TYPES))];
  const type = domain?.machine?.type;
  if (!type || board.pattern.test(type)) return [];
  return [invalidCause(`${path}.domain.machine.type`, type, `machine type is not supported, allowed are ${board.shown}`)];
}
