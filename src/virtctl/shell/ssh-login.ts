/** Logs in with the ssh of this machine, and says whether the guest let us in. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClusterDeps, ConnectionFlags } from '../deps.ts';
import { becomeProgram } from '../ssh/become-program.ts';
import { readSshKey } from '../ssh/ssh-key.ts';
import { shellSshArguments } from './ssh-arguments.ts';

export type SshLogin = {
  readonly name: string;
  readonly user: string;
  readonly flags: ConnectionFlags & { readonly port: number; readonly identityFile?: string; readonly stdin: boolean };
  readonly command?: readonly string[] | undefined;
};

/** What ssh leaves with when something of its own went wrong; a program may do so, too. */
const SSH_FAILED = 255;

export async function loginBySsh(deps: ClusterDeps, { name, user, flags, command }: SshLogin): Promise<{ code: number; isIn: boolean }> {
  const { program, namespace, home } = deps;
  const { kubeconfig, context, verbosity, port, stdin } = flags;
  const ours = flags.identityFile === undefined ? await readSshKey(home) : undefined;
  const folder = mkdtempSync(join(tmpdir(), 'virtctl-shell-'));
  try {
    const loggedInFile = join(folder, 'in');
    const args = shellSshArguments({
      ...{ program, kubeconfig, context, verbosity, namespace, port, name, user, loggedInFile, command, stdin },
      identityFile: ours?.privateKeyPath ?? flags.identityFile,
      isOurKey: ours !== undefined,
    });
    const code = await becomeProgram(deps, 'ssh', args);
    return { code, isIn: code !== SSH_FAILED || existsSync(loggedInFile) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
