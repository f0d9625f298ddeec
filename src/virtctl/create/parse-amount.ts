/** Checks an amount of memory or storage before it gets into a manifest. */
import { UserError } from '../../base/errors.ts';
import { formatBytes, parseQuantity } from '../../base/quantity.ts';

/** The amount as it was said; throws a UserError when it is none, or more than there can be. */
export function parseAmount(flag: string, said: string, mostBytes = Number.POSITIVE_INFINITY): string {
  const bytes = parseQuantity(said) ?? 0;
  if (bytes > mostBytes)
    throw new UserError('USAGE', `${flag} ${said} is too large`, { fix: `at most ${formatBytes(mostBytes)}`, exitCode: 2 });
  if (bytes > 0) return said;
  throw new UserError('USAGE', `${flag} ${said} is not an amount`, { fix: 'say it as 512Mi or 2Gi', exitCode: 2 });
}
