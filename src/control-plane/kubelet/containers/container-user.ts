/** Which user a container runs as inside: what its spec says, else what its image says, by number or by the names of its own files. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Container, Pod } from '../../../api/core/pod.ts';
import { ApiError } from '../../../base/errors.ts';
import { followInside } from '../../../images/unpack-root.ts';
import { securityOf } from './security-of.ts';

export type ContainerUser = { readonly uid: number; readonly gid: number; readonly groups: readonly number[] };

const MAX_BYTES = 2 ** 20;

/** Throws with the reason when there is no such user, or the spec asks for one that is not root and it would be. */
export async function containerUserOf(options: {
  readonly pod: Pod;
  readonly container: Container;
  /** `user[:group]`, each a number or a name. */
  readonly imageUser: string | undefined;
  readonly root: string;
}): Promise<ContainerUser> {
  const { pod, container, imageUser = '', root } = options;
  const { runAsUser, runAsGroup, runAsNonRoot } = securityOf(pod, container);
  const found = await fromImage(root, imageUser);
  const uid = runAsUser ?? found.uid;
  const gid = runAsGroup ?? (runAsUser === undefined ? found.gid : 0);
  if (runAsNonRoot && uid === 0)
    throw new ApiError('Invalid', `container has runAsNonRoot and image will run as root (container: ${container.name})`);
  const { fsGroup } = pod.spec.securityContext ?? {};
  return { uid, gid, groups: fsGroup === undefined ? [] : [fsGroup] };
}

async function fromImage(root: string, text: string): Promise<{ uid: number; gid: number }> {
  const [user = '', group] = text.split(':');
  if (user === '') return { uid: 0, gid: 0 };
  const entry = (await linesOf(root, ['etc', 'passwd'])).find(([name, , id]) => name === user || id === user);
  const uid = /^\d+$/.test(user) ? Number(user) : Number(entry?.[2] ?? Number.NaN);
  if (!Number.isInteger(uid)) throw new ApiError('Invalid', `the image's user ${JSON.stringify(user)} is not in its /etc/passwd`);
  if (group === undefined) return { uid, gid: Number(entry?.[3] ?? 0) };
  if (/^\d+$/.test(group)) return { uid, gid: Number(group) };
  const gid = Number((await linesOf(root, ['etc', 'group'])).find(([name]) => name === group)?.[2] ?? Number.NaN);
  if (!Number.isInteger(gid)) throw new ApiError('Invalid', `the image's group ${JSON.stringify(group)} is not in its /etc/group`);
  return { uid, gid };
}

/** A file of the image, found as the container would find it and never through a link of the host's. */
async function linesOf(root: string, path: readonly string[]): Promise<string[][]> {
  const file = await open(join(root, ...(await followInside(root, path))), constants.O_RDONLY | constants.O_NOFOLLOW).catch(
    () => undefined,
  );
  if (!file) return [];
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0);
    return buffer
      .toString('utf8', 0, bytesRead)
      .split('\n')
      .map((line) => line.split(':'));
  } finally {
    await file.close();
  }
}
