/** Processors: their number, what the Pod asks for, and the rules of dedicated ones. */
import { invalidCause, requiredCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { parseQuantity } from '../../../base/quantity.ts';
import type { Amount, CheckedDomain, CheckedSpec } from './checked-spec.ts';
import { amountCauses } from './validate-memory.ts';

const MODEL = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;
const FEATURE = /^[a-z0-9][a-z0-9_.-]{0,63}$/;
const POLICIES = ['', 'force', 'require', 'optional', 'disable', 'forbid'];
/** The boards we have take no more. */
const MOST_CPUS = 255;

export function validateCpu(spec: CheckedSpec, path: string): StatusCause[] {
  const { domain = {} } = spec;
  const at = `${path}.domain.cpu`;
  const { cpu = {} } = domain;
  const causes = [...resourceCauses(domain, path), ...countCauses(domain, path)];
  if (cpu.model && !MODEL.test(cpu.model)) causes.push(invalidCause(`${at}.model`, cpu.model, 'a model is a name such as Skylake-Client'));
  if (cpu.maxSockets && (cpu.sockets ?? 1) > cpu.maxSockets)
    causes.push(invalidCause(`${at}.sockets`, cpu.sockets, `must be less than or equal to maxSockets, ${cpu.maxSockets}`));
  cpu.features?.forEach(({ name, policy = '' }, index) => {
    if (!FEATURE.test(name))
      causes.push(invalidCause(`${at}.features[${index}].name`, name.slice(0, 80), 'a feature is a name such as vmx'));
    if (!POLICIES.includes(policy))
      causes.push(invalidCause(`${at}.features[${index}].policy`, policy, `must be one of ${POLICIES.slice(1).join(', ')}`));
  });
  if (cpu.isolateEmulatorThread && !cpu.dedicatedCpuPlacement)
    causes.push(invalidCause(`${at}.isolateEmulatorThread`, true, 'needs dedicatedCpuPlacement'));
  if (cpu.numa?.guestMappingPassthrough && !(cpu.dedicatedCpuPlacement && domain.memory?.hugepages))
    causes.push(invalidCause(`${at}.numa.guestMappingPassthrough`, {}, 'needs dedicatedCpuPlacement and hugepages'));
  if (cpu.realtime && !(cpu.dedicatedCpuPlacement && cpu.numa?.guestMappingPassthrough))
    causes.push(invalidCause(`${at}.realtime`, {}, 'needs dedicatedCpuPlacement and numa.guestMappingPassthrough'));
  return [...causes, ...(cpu.dedicatedCpuPlacement ? dedicatedCauses(spec, path) : [])];
}

function resourceCauses({ resources }: CheckedDomain, path: string): StatusCause[] {
  const [request, limit] = [resources?.requests?.['cpu'], resources?.limits?.['cpu']];
  const field = `${path}.domain.resources.requests.cpu`;
  const malformed = [...amountCauses(field, request), ...amountCauses(`${path}.domain.resources.limits.cpu`, limit)];
  if (malformed.length > 0 || request === undefined || limit === undefined) return malformed;
  return cores(request) > cores(limit) ? [invalidCause(field, request, `must be less than or equal to the cpu limit, ${limit}`)] : [];
}

function countCauses({ cpu = {}, resources }: CheckedDomain, path: string): StatusCause[] {
  const { cores: perSocket, sockets, threads } = cpu;
  const isGiven = perSocket || sockets || threads;
  const asked = resources?.limits?.['cpu'] ?? resources?.requests?.['cpu'];
  const count = isGiven ? (perSocket || 1) * (sockets || 1) * (threads || 1) : Math.ceil(asked === undefined ? 1 : cores(asked));
  if (!(count > MOST_CPUS)) return [];
  const field = isGiven ? `${path}.domain.cpu` : `${path}.domain.resources`;
  return [invalidCause(field, count, `a guest has at most ${MOST_CPUS} processors`)];
}

/** Processors of one's own are whole ones, and the Pod asks for exactly those. */
function dedicatedCauses({ domain = {}, architecture }: CheckedSpec, path: string): StatusCause[] {
  const { cpu = {}, resources } = domain;
  const at = `${path}.domain.resources`;
  const causes: StatusCause[] = [];
  const [request, limit] = [resources?.requests?.['cpu'], resources?.limits?.['cpu']];
  const isCounted = Boolean(cpu.cores || cpu.sockets);
  const isAsked = request !== undefined || limit !== undefined;
  for (const [name, amount] of [['requests', request] as const, ['limits', limit] as const]) {
    if (amount !== undefined && !Number.isInteger(cores(amount)))
      causes.push(invalidCause(`${at}.${name}.cpu`, amount, 'must be a whole number with dedicatedCpuPlacement'));
  }
  if (request !== undefined && limit !== undefined && cores(request) !== cores(limit))
    causes.push(invalidCause(`${at}.requests.cpu`, request, `must be equal to the cpu limit, ${limit}, with dedicatedCpuPlacement`));
  const [memory, most] = [resources?.requests?.['memory'], resources?.limits?.['memory']];
  if (memory !== undefined && most !== undefined && cores(memory) !== cores(most))
    causes.push(invalidCause(`${at}.requests.memory`, memory, `must be equal to the memory limit, ${most}, with dedicatedCpuPlacement`));
  if (isCounted && isAsked)
    causes.push(invalidCause(`${path}.domain.cpu`, 'dedicatedCpuPlacement', 'give cores and sockets or cpu resources, not both'));
  if (!isCounted && !isAsked)
    causes.push(requiredCause(`${path}.domain.cpu.cores`, 'dedicatedCpuPlacement needs a number of cores or cpu resources'));
  const mostThreads = architecture === 'arm64' ? 1 : 2;
  if ((cpu.threads ?? 1) > mostThreads)
    causes.push(invalidCause(`${path}.domain.cpu.threads`, cpu.threads, `must be at most ${mostThreads} with dedicatedCpuPlacement`));
  return causes;
}

function cores(amount: Amount): number {
  return parseQuantity(amount) ?? Number.NaN;
}
