/** Checks an amount of memory or storage before it gets into a manifest. */
import { UserError } from '../../base/errors.ts';
import { formatBytes, parseQuantity } from '../../base/quantity.ts';

/** Nothing of a machine is as small: whoever says less has left the unit out. */
const LEAST_BYTES = 2 ** 20;
/** Fewer are meant in Gi, more in Mi. */
const FEW = 64;

/** The amount as it was said; throws a UserError when it is none, or more or less than there can be. */
export function parseAmount(flag: string, said: string, mostBytes = Number.POSITIVE_INFINITY): string {
  const bytes = parseQuantity(said) ?? 0;
  if (bytes > mostBytes)
    throw new UserError('USAGE', `${flag} ${said} is too large`, { fix: `at most ${formatBytes(mostBytes)}`, exitCode: 2 });
  if (bytes >= LEAST_BYTES) return said;
  if (bytes > 0)
    throw new UserError('USAGE', `${flag} ${said} is ${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`, {
      why: 'an amount without a unit is in bytes',
      fix: /^\d+$/.test(said) ? `${flag} ${said}${Number(said) < FEW ? 'Gi' : 'Mi'}` : 'say it as 512Mi or 2Gi',
      exitCode: 2,
    });
  throw new UserError('USAGE', `${flag} ${said} is not an amount`, { fix: 'say it as 512Mi or 2Gi', exitCode: 2 });
}
