/** start, stop, pause and their like: one PUT to a subresource, and a line that says what was done. */
import { type SubresourceName, subresourcePath } from '../../api/kubevirt/subresource-path.ts';
import type { VmResource } from '../../api/kubevirt/subresources.ts';
import type { KubeObject } from '../../api/meta.ts';
import { isApiError } from '../../base/errors.ts';
import type { ClusterDeps, ConnectionFlags } from '../deps.ts';
import { renderError } from '../failure.ts';
import { type VmKind, type VmTarget, vmTargets } from '../vm-target.ts';

export type LifecycleFlags = ConnectionFlags & { readonly dryRun: boolean };

type VmCall = {
  readonly verb: 'start' | 'stop' | 'restart' | 'suspend' | 'resume';
  readonly flags: LifecycleFlags;
  readonly words: readonly string[];
  readonly body: object;
};
type InstanceCall = {
  readonly verb: 'pause' | 'unpause' | 'reset' | 'soft-reboot';
  readonly flags: LifecycleFlags;
  readonly words: readonly string[];
};

/** What may be meant by a name alone. */
const KINDS: Readonly<Record<VmCall['verb'], VmKind[]>> = {
  start: ['vm', 'ovm', 'vmic'],
  stop: ['vm', 'ovm', 'vmic'],
  restart: ['vm', 'ovm'],
  suspend: ['vm'],
  resume: ['vm'],
};

const RESOURCES: Readonly<Record<VmKind, VmResource>> = {
  vm: 'virtualmachines',
  ovm: 'offlinevirtualmachines',
  vmic: 'virtualmachineinstanceconfigs',
  vmi: 'virtualmachineinstances',
};

/** Says it to VMs, one after the other, or to what keeps VMs: to the first kind that has something of this name. */
export async function callVm(deps: ClusterDeps, { verb, flags, words, body }: VmCall): Promise<void> {
  if (flags.dryRun) deps.stdout.write('Dry Run execution\n');
  await forEachTarget(deps, vmTargets(verb, words), (target) => tellVm(deps, target, { verb, flags, body }));
}

async function tellVm(deps: ClusterDeps, { kind, name, note }: VmTarget, { verb, flags, body }: Omit<VmCall, 'words'>): Promise<void> {
  const { stdout, stderr } = deps;
  if (note) stderr.write(`note: ${note}\n`);
  // whoever says `vmi` means the machine of that instance
  const kinds: VmKind[] = kind && kind !== 'vmi' ? [kind] : KINDS[verb];
  const { kind: found, response } = await firstThatIsThere(kinds, (each) => put(deps, { kind: each, name, verb, flags, body }));
  const made = found === 'vmic' && verb === 'start' ? `: VMI ${((await response.json()) as KubeObject).metadata.name}` : '';
  const warning = warningOf(response);
  if (warning) stderr.write(`Warning: ${warning}\n`);
  stdout.write(`${found.toUpperCase()} ${name} was scheduled to ${verb}${made}\n`);
}

/** As the API server warns: a code, who says it, and a quoted text. */
function warningOf({ headers }: Response): string | undefined {
  return /^299 \S+ "(.*)"$/.exec(headers.get('warning') ?? '')?.[1];
}

/** Says it to running guests, one after the other. */
export async function callInstance(deps: ClusterDeps, { verb, flags, words }: InstanceCall): Promise<void> {
  if (flags.dryRun) deps.stdout.write('Dry Run execution\n');
  await forEachTarget(deps, vmTargets(verb, words), async ({ name }) => {
    await put(deps, { kind: 'vmi', name, verb: verb === 'soft-reboot' ? 'softreboot' : verb, flags, body: {} });
    deps.stdout.write(`VMI ${name} was scheduled to ${verb}\n`);
  });
}

/** What one of several refuses does not keep the others from it; the first refusal is the answer, the others are said before it. */
async function forEachTarget(
  { stderr }: ClusterDeps,
  targets: readonly VmTarget[],
  tell: (target: VmTarget) => Promise<void>,
): Promise<void> {
  const refusals: unknown[] = [];
  for (const target of targets) await tell(target).catch((error: unknown) => refusals.push(error));
  for (const error of refusals.slice(1)) stderr.write(`${renderError(error)}\n`);
  if (refusals.length > 0) throw refusals[0];
}

/** A name alone may be any of these. A stop that the VM refuses may be meant for what keeps it; the first refusal is what is told. */
async function firstThatIsThere(kinds: readonly VmKind[], putTo: (kind: VmKind) => Promise<Response>) {
  let refusal: unknown;
  for (const kind of kinds) {
    try {
      return { kind, response: await putTo(kind) };
    } catch (error) {
      if (!isApiError(error, 'NotFound') && !isApiError(error, 'Conflict')) throw error;
      if (refusal === undefined || isApiError(refusal, 'NotFound')) refusal = isApiError(error, 'NotFound') ? (refusal ?? error) : error;
    }
  }
  throw refusal;
}

type Put = {
  readonly kind: VmKind;
  readonly name: string;
  readonly verb: SubresourceName;
  readonly flags: LifecycleFlags;
  readonly body: object;
};

/** Its answer; a refusal is thrown. The server carries out nothing of a dry run. */
function put({ client, namespace }: ClusterDeps, { kind, name, verb, flags, body }: Put): Promise<Response> {
  return client.request(subresourcePath({ namespace, resource: RESOURCES[kind], name }, verb), {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(flags.dryRun ? { ...body, dryRun: ['All'] } : body),
  });
}
