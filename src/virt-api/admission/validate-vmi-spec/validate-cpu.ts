/** Processors: their number, and what the Pod asks for. */
import type { Domain, VmiSpec } from '../../../api/kubevirt/vmi-spec-schema.ts';
import { invalidCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { parseQuantity } from '../../../base/quantity.ts';
import { CPU_FEATURE, CPU_MODEL, MOST_CPUS } from '../../../qemu/convert/limits.ts';
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

function countCauses({ cpu = {}, resources }: Domain, path: string): StatusCause[] {
  const { cores: perSocket, sockets, threads } = cpu;
  const isGiven = perSocket || sockets || threads;
  const asked = resources?.limits?.['cpu'] ?? resources?.requests?.['cpu'];
  const count = isGiven ? (perSocket || 1) * (sockets || 1) * (threads || 1) : Math.ceil(asked === undefined ? 1 : cores(asked));
  if (!(count > MOST_CPUS)) return [];
  const field = isGiven ? `${path}.domain.cpu` : `${path}.domain.resources`;
  return [invalidCause(field, count, `a guest has at most ${MOST_CPUS} processors`)];
}

function cores(amount: string | number): number {
  return parseQuantity(amount) ?? Number.NaN;
}
