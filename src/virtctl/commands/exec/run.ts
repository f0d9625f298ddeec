/** Runs a program in a guest through its agent, and where there is none by ssh; what it printed and its exit code are ours. */
import { vmiIs } from '../../../api/kubevirt/condition-reasons.ts';
import { VMIS } from '../../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { isApiError } from '../../../base/errors.ts';
import type { ClusterDeps, ConnectionFlags } from '../../deps.ts';
import { execByAgent } from '../../exec/exec-by-agent.ts';
import { enterMachine } from '../../shell/enter-machine.ts';
import { vmName } from '../../vm-target.ts';

type ExecFlags = ConnectionFlags & { readonly timeout: number; readonly stdin: boolean };

const SSH_PORT = 22;

export async function run(deps: ClusterDeps, flags: ExecFlags, machine: string, ...command: string[]): Promise<number> {
  const { timeout: timeoutSeconds, stdin } = flags;
  const name = vmName('exec', [machine]);
  const bySsh = () =>
    enterMachine(deps, { name, command, byAgent: { timeoutSeconds }, flags: { ...flags, port: SSH_PORT, timeout: timeoutSeconds / 60 } });
  // Input can be read once: whether there is an agent is asked before.
  if (stdin && (await runsWithoutAgent(deps, name))) return bySsh();
  try {
    return await execByAgent(deps, { name, command, timeoutSeconds, stdin });
  } catch (error) {
    if (isApiError(error, 'Conflict') && (await runsWithoutAgent(deps, name))) return bySsh();
    throw error;
  }
}

async function runsWithoutAgent({ client, namespace }: ClusterDeps, name: string): Promise<boolean> {
  const vmi = await client.get(VMIS, { namespace, name });
  return vmi?.status?.phase === 'Running' && !vmiIs(vmi, 'Paused') && !vmiIs(vmi, 'AgentConnected');
}
