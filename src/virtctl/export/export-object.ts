/** A VirtualMachineExport, for a command: makes it, waits until it can be taken, reads its token. */
import { SECRETS } from '../../api/core/secret.ts';
import { ARCHIVE_FORMAT, EXPORT_TOKEN_KEY } from '../../api/exporter/exporter.ts';
import { type VirtualMachineExport, VM_EXPORTS } from '../../api/kubevirt/kinds/vm-export.ts';
import { conditionOf } from '../../api/meta.ts';
import { apiVersionOf } from '../../api/resource.ts';
import { bytesOfBase64 } from '../../base/base64.ts';
import { ApiError, isApiError, UserError } from '../../base/errors.ts';
import { parseGoDuration } from '../../base/go-duration.ts';
import type { ClusterDeps } from '../deps.ts';

export type SourceFlags = { readonly vm?: string; readonly snapshot?: string; readonly pvc?: string };
export type CreateFlags = SourceFlags & {
  readonly ttl?: string;
  readonly labels?: string;
  readonly annotations?: string;
};
type Source = VirtualMachineExport['spec']['source'];

const LOOK_MS = 250;
const DEFAULT_READY_MS = 2 * 60 * 1000;
/** It comes by itself, in a moment: nobody can do anything about it. */
const UNDER_WAY = ['Initializing', 'PodPending'];

/** What the flags name; undefined when they name nothing, a UserError when they name two things. */
export function sourceIn({ vm, snapshot, pvc }: SourceFlags): Source | undefined {
  const sources: Source[] = [
    ...(vm === undefined ? [] : [{ apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: vm }]),
    ...(snapshot === undefined ? [] : [{ apiGroup: 'snapshot.kubevirt.io', kind: 'VirtualMachineSnapshot', name: snapshot }]),
    ...(pvc === undefined ? [] : [{ apiGroup: '', kind: 'PersistentVolumeClaim', name: pvc }]),
  ];
  if (sources.length > 1) throw usage('--vm, --snapshot and --pvc exclude each other', 'name one of them');
  return sources[0];
}

/** Whether it was made; false when there is one of this name for the same source. */
export async function ensureExport({ client, namespace }: ClusterDeps, name: string, source: Source, flags: CreateFlags): Promise<boolean> {
  try {
    await client.create(VM_EXPORTS, exportFor({ namespace, name, source }, flags));
    return true;
  } catch (error) {
    if (!isApiError(error, 'AlreadyExists')) throw error;
  }
  const { kind, name: other } = (await client.get(VM_EXPORTS, { namespace, name }))?.spec.source ?? source;
  if (kind === source.kind && other === source.name) return false;
  throw new UserError('EXPORT_EXISTS', `VirtualMachineExport ${name} is there already, of ${kind} ${other}`, {
    fix: 'choose another name',
    exitCode: 4,
  });
}

export function exportFor(at: { namespace: string; name: string; source: Source }, flags: CreateFlags): VirtualMachineExport {
  const { namespace, name, source } = at;
  if (flags.ttl !== undefined && !parseGoDuration(flags.ttl)) throw usage(`${flags.ttl} is no time`, '--ttl 30m');
  return {
    apiVersion: apiVersionOf(VM_EXPORTS),
    kind: 'VirtualMachineExport',
    metadata: {
      namespace,
      name,
      ...(flags.labels !== undefined && { labels: pairsIn(flags.labels) }),
      ...(flags.annotations !== undefined && { annotations: pairsIn(flags.annotations) }),
    },
    spec: { source, ...(flags.ttl !== undefined && { ttlDuration: flags.ttl }) },
  };
}

/** Resolves with the export when it is Ready, and says what it waits for; a UserError with that when it takes too long. */
export async function untilReady(
  { client, clock, namespace, stderr }: ClusterDeps,
  name: string,
  options: { timeout?: string | undefined; signal: AbortSignal },
): Promise<VirtualMachineExport> {
  const patienceMs = options.timeout === undefined ? DEFAULT_READY_MS : parseGoDuration(options.timeout);
  if (!patienceMs) throw usage(`${options.timeout} is no time`, '--readiness-timeout 5m');
  const startedAtMs = clock.steady();
  for (let said: string | undefined; ; ) {
    const found = await client.get(VM_EXPORTS, { namespace, name });
    if (!found) throw new ApiError('NotFound', `virtualmachineexports "${name}" not found`, { details: { name, kind: VM_EXPORTS.plural } });
    if (found.status?.phase === 'Ready') return found;
    const { message: why, reason = '' } = conditionOf(found.status?.conditions, 'Ready') ?? {};
    if (found.status?.phase === 'Skipped')
      throw new UserError('NOTHING_TO_EXPORT', `export ${name} has nothing to take`, { ...(why && { why }) });
    if (clock.steady() - startedAtMs > patienceMs)
      throw new UserError('EXPORT_NOT_READY', `export ${name} is not ready after ${patienceMs / 1000} s`, {
        ...(why && { why }),
        exitCode: 5,
      });
    if (why && why !== said && !UNDER_WAY.includes(reason)) {
      stderr.write(`waiting: ${why}\n`);
      said = why;
    }
    await clock.sleep(LOOK_MS, options.signal);
  }
}

/** What opens it. */
export async function tokenOf({ client, namespace }: ClusterDeps, exported: VirtualMachineExport): Promise<string> {
  const name = exported.status?.tokenSecretRef ?? '';
  const secret = await client.get(SECRETS, { namespace, name });
  const token = secret?.data?.[EXPORT_TOKEN_KEY];
  if (token === undefined)
    throw new UserError('NO_TOKEN', `Secret ${name} has no ${EXPORT_TOKEN_KEY}`, {
      fix: `virtctl vmexport delete ${exported.metadata.name}, and export it again`,
    });
  return new TextDecoder().decode(bytesOfBase64(token)).trim();
}

/** The one that was named, or the only one. */
export function volumeIn(exported: VirtualMachineExport, named: string | undefined): string {
  const names = exported.status?.links?.internal?.volumes?.map(({ name }) => name) ?? [];
  const [only] = names;
  if (named === undefined && only !== undefined && names.length === 1) return only;
  if (named !== undefined && names.includes(named)) return named;
  const what = named === undefined ? 'there is more than one volume' : `there is no volume ${named}`;
  throw usage(what, `--volume ${names.join(' or ')}`);
}

/** This volume is no disk: what is taken is an archive of its files. */
export function hasFiles(exported: VirtualMachineExport, volume: string): boolean {
  const found = exported.status?.links?.internal?.volumes?.find(({ name }) => name === volume);
  return found?.formats?.some(({ format }) => format === ARCHIVE_FORMAT) ?? false;
}

export function usage(message: string, fix: string): UserError {
  return new UserError('USAGE', message, { fix, exitCode: 2 });
}

/** `a=b,c=d`. */
function pairsIn(text: string): Record<string, string> {
  return Object.fromEntries(
    text.split(',').map((pair) => {
      const [key = '', ...value] = pair.split('=');
      return [key, value.join('=')];
    }),
  );
}
