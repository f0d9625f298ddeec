/** Checks an amount of memory or storage before it gets into a manifest. */
import { UserError } from '../../base/errors.ts';
import { parseQuantity } from '../../base/quantity.ts';

/** The amount as it was said; throws a UserError when it is none. */
export function parseAmount(flag: string, said: string): string {
  if ((parseQuantity(said) ?? 0) > 0) return said;
  throw new UserError('USAGE', `${flag} ${said} is not an amount`, { fix: 'say it as 512Mi or 2Gi', exitCode: 2 });
}
