/** Copies files into a guest or out of it with the scp of this machine. */
import type { ClusterDeps } from '../../deps.ts';
import { parseCopy, scpArguments } from '../../ssh/arguments.ts';
import { becomeProgram, type SshFlags, sshOptions } from '../../ssh/become-program.ts';

type ScpFlags = SshFlags & { readonly recursive: boolean; readonly preserve: boolean };

export async function run(deps: ClusterDeps, flags: ScpFlags, from: string, to: string): Promise<number> {
  const { recursive, preserve } = flags;
  const options = await sshOptions(deps, flags, parseCopy(from, to));
  return becomeProgram(deps, 'scp', scpArguments(from, to, { ...options, recursive, preserve }));
}
