/** Which user a container runs as: its own when we are root and that user exists in our user namespace, else ours. */
import { readFileSync } from 'node:fs';
import type { Container, Pod } from '../../api/core/pod.ts';
import { ApiError } from '../../base/errors.ts';

export type RunAs = {
  readonly uid: number;
  readonly gid: number;
  readonly groups?: readonly number[];
  /** The root of containers that have more users: what is made for them is open to all of those. */
  readonly isRootInside?: boolean;
};

/** True when this process may start others as that user; in a rootless namespace most users are not mapped. */
export type MayBecome = (uid: number) => boolean;

/** Asks the kernel once who can be become. */
export function whoWeMayBecome(): MayBecome {
  if (process.getuid?.() !== 0) return () => false;
  const ranges = readFileSync('/proc/self/uid_map', 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  return (uid) => ranges.some(([first = 0, , count = 0]) => uid >= first && uid < first + count);
}

/** The user and group that the spec asks for; undefined when it does not say. `otherwise` is who it would run as then. */
export function requestedUser(pod: Pod, container: Container, otherwise = process.getuid?.()): RunAs | undefined {
  const merged = { ...pod.spec.securityContext, ...container.securityContext };
  const { runAsUser, runAsGroup, runAsNonRoot } = merged;
  if (runAsNonRoot && (runAsUser ?? otherwise) === 0) {
    throw new ApiError('Invalid', `container has runAsNonRoot and would run as root (container: ${container.name})`);
  }
  if (runAsUser === 0) {
    const why = 'containers of the embedded cluster are processes of the host and never root';
    throw new ApiError('Invalid', `container asks for runAsUser 0: ${why} (container: ${container.name})`);
  }
  if (runAsUser === undefined) return undefined;
  return { uid: runAsUser, gid: runAsGroup ?? merged.fsGroup ?? runAsUser };
}

/** The owner of a Pod's own folders; undefined when they stay ours. */
export function volumeOwner(pod: Pod, mayBecome: MayBecome): RunAs | undefined {
  const [first] = pod.spec.containers;
  const user = first && requestedUser(pod, first);
  if (!user || !mayBecome(user.uid)) return undefined;
  return { uid: user.uid, gid: pod.spec.securityContext?.fsGroup ?? user.gid };
}
