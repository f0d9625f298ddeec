/** What the guest reads about its board, and what a board always has. */
import type { VmiSpec } from '../../../api/kubevirt/vmi-spec-schema.ts';
import { invalidCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { HYPERV_VENDOR_ID, isPrintable, isTimeZone } from '../../../qemu/convert/limits.ts';

export function validateBoard({ domain }: VmiSpec, path: string): StatusCause[] {
  const { chassis = {}, clock, features } = domain;
  const vendor = features?.hyperv?.vendorid?.vendorid;
  const causes = Object.entries(chassis)
    .filter(([, text]) => !isPrintable(text))
    .map(([name, text]) => invalidCause(`${path}.domain.chassis.${name}`, text.slice(0, 64), 'must be printable text'));
  if (clock?.timer?.rtc?.present === false)
    causes.push(invalidCause(`${path}.domain.clock.timer.rtc.present`, false, 'a PC always has a clock on its board'));
  const { utc, timezone } = clock ?? {};
  if (utc && timezone) causes.push(invalidCause(`${path}.domain.clock`, 'utc, timezone', 'only one of utc and timezone may be set'));
  if (timezone && !isTimeZone(timezone))
    causes.push(invalidCause(`${path}.domain.clock.timezone`, timezone, 'must be the name of a time zone, such as Europe/Berlin'));
  if (vendor && !HYPERV_VENDOR_ID.test(vendor))
    causes.push(
      invalidCause(`${path}.domain.features.hyperv.vendorid.vendorid`, vendor.slice(0, 64), 'must be at most 12 letters, digits and signs'),
    );
  return causes;
}
