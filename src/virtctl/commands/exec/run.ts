/** Runs a program in a guest through its agent; what it printed and its exit code are ours. */
import type { ClusterDeps, ConnectionFlags } from '../../deps.ts';
import { execByAgent } from '../../exec/exec-by-agent.ts';
import { vmName } from '../../vm-target.ts';

type ExecFlags = ConnectionFlags & { readonly timeout: number; readonly stdin: boolean };

export async function run(deps: ClusterDeps, { timeout, stdin }: ExecFlags, machine: string, ...command: string[]): Promise<number> {
  return execByAgent(deps, { name: vmName('exec', [machine]), command, timeoutSeconds: timeout, stdin });
}
