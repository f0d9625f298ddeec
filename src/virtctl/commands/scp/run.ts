/** Copies files into a guest or out of it with the scp of this machine. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ClusterDeps } from '../../deps.ts';
import { parseCopy, scpArguments } from '../../ssh/arguments.ts';
import { becomeProgram, type SshFlags, sshOptions } from '../../ssh/become-program.ts';

type ScpFlags = SshFlags & { readonly recursive: boolean; readonly preserve: boolean };

export async function run(deps: ClusterDeps, flags: ScpFlags, from: string, to: string): Promise<number> {
  const { recursive, preserve } = flags;
  const isFile = (path: string) => existsSync(resolve(deps.workingFolder, path));
  const options = await sshOptions(deps, flags, parseCopy(from, to, isFile));
  return becomeProgram(deps, 'scp', scpArguments(from, to, { ...options, recursive, preserve, isFile }));
}
