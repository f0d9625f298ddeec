/** Opens a shell in a Pod that has the disk of a PVC and an image with tools; the Pod goes when the shell ends. */
import { constants } from 'node:os';
import { PODS, type Pod } from '../../../api/core/pod.ts';
import { PERSISTENT_VOLUME_CLAIMS } from '../../../api/core/volume.ts';
import { GUESTFS, type GuestfsInfo, guestfsImageOf } from '../../../api/kubevirt/guestfs.ts';
import { subresourceGroupPath } from '../../../api/kubevirt/subresource-path.ts';
import { ApiError, isApiError, messageOf, UserError } from '../../../base/errors.ts';
import type { ClusterDeps, ConnectionFlags, PodShell } from '../../deps.ts';
import { diskOf, NOT_READABLE, shellFor, TOOLS_CONTAINER, toolsPodFor, userOfClaim } from '../../guestfs/tools-pod.ts';

type GuestfsFlags = ConnectionFlags & {
  readonly image?: string;
  readonly pullPolicy: 'Always' | 'IfNotPresent' | 'Never';
  readonly kvm: boolean;
  readonly root: boolean;
  readonly uid?: number;
  readonly gid?: number;
  readonly fsGroup?: number;
};

const PATIENCE_MS = 300_000;
const LOOK_AGAIN_MS = 500;
/** Of these a container does not recover by itself. */
const HOPELESS = /^(ErrImageNeverPull|ImagePullBackOff|InvalidImageName|CreateContainerConfigError|CreateContainerError)$/;

export async function run(deps: ClusterDeps, flags: GuestfsFlags, claimName: string): Promise<void> {
  const { client, namespace, stderr } = deps;
  const claim = await client.get(PERSISTENT_VOLUME_CLAIMS, { namespace, name: claimName });
  if (!claim) throw new ApiError('NotFound', `there is no PVC "${claimName}" in namespace ${namespace}`);
  const user = userOfClaim((await client.list(PODS, { namespace })).items, claimName);
  if (user !== undefined)
    throw new UserError('PVC_IN_USE', `the Pod ${user} uses PVC ${claimName}`, {
      why: 'two that write to one disk destroy it',
      fix: 'stop the machine first, and try again when its Pod is gone',
      exitCode: 5,
    });
  const { root: isRoot, kvm: hasKvm, pullPolicy, uid, gid, fsGroup } = flags;
  const image = flags.image ?? (await imageOfInstallation(deps));
  const ids = { ...(uid !== undefined && { uid }), ...(gid !== undefined && { gid }), ...(fsGroup !== undefined && { fsGroup }) };
  const pod = await client.create(PODS, toolsPodFor({ claim, image, pullPolicy, isRoot, hasKvm, ...ids }));
  const stopped = new AbortController();
  const stops = (['SIGINT', 'SIGTERM'] as const).map((signal) => deps.onSignal(signal, () => stopped.abort(signal)));
  try {
    stderr.write(`Waiting for the Pod ${pod.metadata.name} with ${image}.\n`);
    await untilRunning(deps, pod, stopped.signal);
    const isTerminal = deps.stdin.isTTY === true;
    const target = { namespace, name: pod.metadata.name, container: TOOLS_CONTAINER, command: shellFor(claim), isTerminal };
    const shell = await deps.openPodShell(target);
    stderr.write(`The disk of ${claimName} is ${diskOf(claim)}. "exit" ends this.\n`);
    await attach(deps, shell, isTerminal);
    if (shell.exitCode() === NOT_READABLE) throw notReadable(claimName, pod);
  } finally {
    for (const stop of stops) stop();
    await client.delete(PODS, pod.metadata, { gracePeriodSeconds: 0 }).catch(ignoreGone);
  }
}

async function imageOfInstallation({ client }: ClusterDeps): Promise<string> {
  const none = (why: string, cause?: unknown) =>
    new UserError('NO_TOOLS_IMAGE', 'the installation names no image with tools for disks', {
      why,
      fix: 'name one: virtctl guestfs PVC --image quay.io/kubevirt/libguestfs-tools:latest',
      exitCode: 5,
      cause,
    });
  try {
    const response = await client.request(subresourceGroupPath(GUESTFS));
    const image = guestfsImageOf((await response.json()) as Partial<GuestfsInfo>);
    if (image) return image;
  } catch (error) {
    if (isApiError(error, 'BadRequest') || isApiError(error, 'NotFound')) throw none(messageOf(error), error);
    throw error;
  }
  throw none('its answer is empty');
}

async function untilRunning({ client, clock }: ClusterDeps, { metadata }: Pod, stopped: AbortSignal): Promise<void> {
  const until = clock.now() + PATIENCE_MS;
  for (;;) {
    if (stopped.aborted) throw interrupted(stopped.reason as NodeJS.Signals); // as the signal was aborted with
    const pod = await client.get(PODS, metadata);
    const waiting = pod?.status?.containerStatuses?.[0]?.state?.waiting;
    const isOver = !pod || pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded';
    if (pod?.status?.phase === 'Running') return;
    if (isOver || HOPELESS.test(waiting?.reason ?? '') || clock.now() >= until)
      throw new UserError('POD_NOT_RUNNING', `the Pod ${metadata.name} does not run`, {
        why: waiting ? `${waiting.reason}: ${waiting.message ?? ''}` : `it is ${pod?.status?.phase ?? 'gone'}`,
        fix: 'the image needs sh; kubectl describe of the PVC and events say more',
        exitCode: 5,
      });
    await clock.sleep(LOOK_AGAIN_MS, stopped);
  }
}

function notReadable(claimName: string, { spec }: Pod): UserError {
  return new UserError('DISK_NOT_READABLE', `the disk of PVC ${claimName} cannot be read by user ${spec.securityContext?.runAsUser}`, {
    why: 'it belongs to another one; in an embedded cluster that was started as root, to the machine alone',
    fix: 'name its owner with --uid, or use --root where the namespace allows it; embedded, give the PVC to a machine and look from there',
    exitCode: 4,
  });
}

function interrupted(signal: NodeJS.Signals): UserError {
  return new UserError('INTERRUPTED', 'interrupted before the shell was there', { exitCode: 128 + constants.signals[signal] });
}

/** Copies both ways until the shell ends. */
async function attach({ stdin, stdout }: ClusterDeps, shell: PodShell, isTerminal: boolean): Promise<void> {
  const onInput = (bytes: Buffer) => shell.write(bytes);
  const onEnd = () => shell.end();
  const { columns, rows } = stdout as { readonly columns?: number; readonly rows?: number };
  if (isTerminal) stdin.setRawMode?.(true);
  if (isTerminal && columns && rows) shell.resize({ columns, rows });
  stdin.on('data', onInput);
  stdin.on('end', onEnd);
  try {
    for await (const chunk of shell.output) stdout.write(chunk);
  } finally {
    stdin.off('data', onInput);
    stdin.off('end', onEnd);
    if (isTerminal) stdin.setRawMode?.(false);
    stdin.pause();
  }
}

function ignoreGone(error: unknown): void {
  if (!isApiError(error, 'NotFound')) throw error;
}
