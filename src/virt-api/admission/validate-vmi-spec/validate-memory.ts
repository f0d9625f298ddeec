/** Memory: there must be some, requests within limits, the guest within the limit. */
import type { VmiSpec } from '../../../api/kubevirt/vmi-spec-schema.ts';
import { invalidCause, requiredCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { parseQuantity } from '../../../base/quantity.ts';
import { GUEST_MEMORY_BYTES } from '../../../qemu/convert/limits.ts';

type Amount = string | number;

const LEAST_REQUEST_BYTES = 1e6;

export function validateMemory({ domain }: VmiSpec, path: string): StatusCause[] {
  const at = `${path}.domain`;
  const fields = {
    guest: { field: `${at}.memory.guest`, amount: domain.memory?.guest },
    request: { field: `${at}.resources.requests.memory`, amount: domain.resources?.requests?.['memory'] },
    maxGuest: { field: `${at}.memory.maxGuest`, amount: domain.memory?.maxGuest },
    overhead: { field: `${at}.memory.reservedOverhead.addedOverhead`, amount: domain.memory?.reservedOverhead?.addedOverhead },
    limit: { field: `${at}.resources.limits.memory`, amount: domain.resources?.limits?.['memory'] },
  };
  const isGiven = [fields.guest, fields.request, fields.limit].some(({ amount }) => amount !== undefined);
  if (!isGiven) return [requiredCause(fields.guest.field, 'the guest needs memory: set this, or a request or limit of memory')];
  const malformed = Object.values(fields).flatMap(({ field, amount }) => amountCauses(field, amount));
  if (malformed.length > 0) return malformed;
  const [guest, request, limit] = [bytes(fields.guest.amount), bytes(fields.request.amount), bytes(fields.limit.amount)];
  const causes: StatusCause[] = [];
  if (request !== undefined && request < LEAST_REQUEST_BYTES)
    causes.push(invalidCause(fields.request.field, fields.request.amount, 'must be 1M or more'));
  if (request !== undefined && limit !== undefined && request > limit)
    causes.push(
      invalidCause(fields.request.field, fields.request.amount, `must be less than or equal to the memory limit, ${fields.limit.amount}`),
    );
  if (guest !== undefined && limit !== undefined && guest > limit)
    causes.push(
      invalidCause(fields.guest.field, fields.guest.amount, `must be less than or equal to the memory limit, ${fields.limit.amount}`),
    );
  const maxGuest = bytes(fields.maxGuest.amount);
  if (guest !== undefined && maxGuest !== undefined && guest > maxGuest)
    causes.push(invalidCause(fields.guest.field, fields.guest.amount, `must be less than or equal to maxGuest, ${fields.maxGuest.amount}`));
  const shown = [fields.guest, fields.request, fields.limit].find(({ amount }) => amount !== undefined);
  const size = bytes(shown?.amount);
  const isTooLarge = guest !== undefined && guest > GUEST_MEMORY_BYTES.most; // what the Pod asks for is for the scheduler
  if (shown && size !== undefined && size >= LEAST_REQUEST_BYTES && (size < GUEST_MEMORY_BYTES.least || isTooLarge))
    causes.push(invalidCause(shown.field, shown.amount, 'a guest has between 1Mi and 4Ti of memory'));
  if (guest !== undefined && guest < LEAST_REQUEST_BYTES)
    causes.push(invalidCause(fields.guest.field, fields.guest.amount, 'must be 1Mi or more'));
  return causes;
}

/** A quantity that is there must be one, and not below zero. */
export function amountCauses(field: string, amount: Amount | undefined): StatusCause[] {
  if (amount === undefined) return [];
  const number = parseQuantity(amount);
  if (number === undefined || !Number.isFinite(number)) return [invalidCause(field, amount, 'must be a quantity such as 500m or 128Mi')];
  return number < 0 ? [invalidCause(field, amount, 'must be greater than or equal to 0')] : [];
}

function bytes(amount: Amount | undefined): number | undefined {
  return amount === undefined ? undefined : parseQuantity(amount);
}
