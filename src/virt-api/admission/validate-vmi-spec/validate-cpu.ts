/** Processors: their number, and what the Pod asks for. */

import { MOST_CPUS } from '../../../api/kubevirt/vmi-size.ts';
import type { Domain, VmiSpec } from '../../../api/kubevirt/vmi-spec-schema.ts';
import { invalidCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { parseQuantity } from '../../../base/quantity.ts';
import { CPU_FEATURE, CPU_MODEL } from '../../../qemu/convert/limits.ts';
import { amountCauses } from './validate-memory.ts';

export function validateCpu({ domain }: VmiSpec, path: string): StatusCause[] {
  const at = `${path}.domain.cpu`;
  const { model, features = [] } = domain.cpu ?? {};
  const causes = [...resourceCauses(domain, path), ...countCauses(domain, path)];
  if (model && !CPU_MODEL.test(model)) causes.push(invalidCause(`${at}.model`, model, 'a model is a name such as Skylake-Client'));
  features.forEach(({ name }, index) => {
    if (!CPU_FEATURE.test(name))
      causes.push(invalidCause(`${at}.features[${index}].name`, name.slice(0, 80), 'a feature is a name such as vmx'));
  });
  return causes;
}

function resourceCauses({ resources }: Domain, path: string): StatusCause[] {
  const [request, limit] = [resources?.requests?.['cpu'], resources?.limits?.['cpu']];
  const field = `${path}.domain.resources.requests.cpu`;
  const malformed = [...amountCauses(field, request), ...amountCauses(`${path}.domain.resources.limits.cpu`, limit)];
  if (malformed.length > 0 || request === undefined || limit === undefined) return malformed;
  return cores(request) > cores(limit) ? [invalidCause(field, request, `must be less than or equal to the cpu limit, ${limit}`)] : [];
}

/** Only processors are counted here: what the Pod asks of a node is for the scheduler, and may fit nowhere. */
function countCauses({ cpu = {} }: Domain, path: string): StatusCause[] {
  const { cores: perSocket, sockets, threads, maxSockets } = cpu;
  const count = (perSocket || 1) * (sockets || 1) * (threads || 1);
  if (maxSockets !== undefined && (sockets || 1) > maxSockets)
    return [invalidCause(`${path}.domain.cpu.sockets`, sockets, `must be at most maxSockets, ${maxSockets}`)];
  return count > MOST_CPUS ? [invalidCause(`${path}.domain.cpu`, count, `a guest has at most ${MOST_CPUS} processors`)] : [];
}

function cores(amount: string | number): number {
  return parseQuantity(amount) ?? Number.NaN;
}
