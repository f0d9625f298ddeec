/** What the guest reads about its board, and what a board always has. */
import { invalidCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import type { CheckedSpec } from './checked-spec.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is the point
const UNPRINTABLE = /[\u0000-\u001f\u007f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

export function validateBoard({ domain }: CheckedSpec, path: string): StatusCause[] {
  const { chassis = {}, clock, features } = domain ?? {};
  const vendor = features?.hyperv?.vendorid?.vendorid;
  const causes = Object.entries(chassis)
    .filter(([, text]) => UNPRINTABLE.test(text))
    .map(([name, text]) => invalidCause(`${path}.domain.chassis.${name}`, text.slice(0, 64), 'must be printable text'));
  if (clock?.timer?.rtc?.present === false)
    causes.push(invalidCause(`${path}.domain.clock.timer.rtc.present`, false, 'a PC always has a clock on its board'));
  if (vendor && !/^[ -~]{1,12}$/.test(vendor))
    causes.push(
      invalidCause(`${path}.domain.features.hyperv.vendorid.vendorid`, vendor.slice(0, 64), 'must be at most 12 letters, digits and signs'),
    );
  return causes;
}
