/** start, stop and restart: what is said of a machine, or of what keeps machines. */
import type { KubeObject } from '../../api/meta.ts';
import { isApiError } from '../../base/errors.ts';
import type { ClusterDeps } from '../deps.ts';
import { type VmKind, vmTarget } from '../vm-target.ts';
import { type LifecycleFlags, putSubresource, RESOURCES, withDryRun } from './put-subresource.ts';

type Call = {
  readonly verb: 'start' | 'stop' | 'restart';
  readonly flags: LifecycleFlags;
  readonly words: readonly string[];
  readonly body: object;
};

/** Sends it to the first kind that has something of this name, and says what was done. */
export async function callVm(deps: ClusterDeps, { verb, flags, words, body }: Call): Promise<void> {
  const { kind, name, note } = vmTarget(verb, words);
  const { client, namespace, stdout, stderr } = deps;
  if (note) stderr.write(`note: ${note}\n`);
  if (flags.dryRun) stdout.write('Dry Run execution\n');
  // whoever says `vmi` means the machine of that instance
  const kinds: VmKind[] = kind && kind !== 'vmi' ? [kind] : ['vm', 'ovm', ...(verb === 'restart' ? [] : (['vmic'] as const))];
  const put = (each: VmKind) => putSubresource(client, { namespace, resource: RESOURCES[each], name, verb }, withDryRun(body, flags));
  const { kind: found, response } = await firstThatIsThere(kinds, put);
  const made = found === 'vmic' && verb === 'start' ? `: VMI ${((await response.json()) as KubeObject).metadata.name}` : '';
  stdout.write(`${found.toUpperCase()} ${name} was scheduled to ${verb}${made}\n`);
}

/** A name alone may be any of these. A stop that the VM refuses may be meant for what keeps it; the first refusal is what is told. */
async function firstThatIsThere(kinds: readonly VmKind[], put: (kind: VmKind) => Promise<Response>) {
  let refusal: unknown;
  for (const kind of kinds) {
    try {
      return { kind, response: await put(kind) };
    } catch (error) {
      if (!isApiError(error, 'NotFound') && !isApiError(error, 'Conflict')) throw error;
      if (refusal === undefined || isApiError(refusal, 'NotFound')) refusal = isApiError(error, 'NotFound') ? (refusal ?? error) : error;
    }
  }
  throw refusal;
}
