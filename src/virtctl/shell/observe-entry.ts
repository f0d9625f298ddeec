/** What can be known of a machine that somebody wants to enter. Slow questions are asked beside: a look never waits for a guest. */
import { VMS } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { VMIS } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { ApiError } from '../../base/errors.ts';
import { findProgram } from '../../base/node/find-program.ts';
import type { ClusterDeps } from '../deps.ts';
import type { ObservedEntry, SshState } from './decide.ts';
import { probeSsh } from './probe-ssh.ts';
import { type PromptWatch, watchPrompt } from './watch-prompt.ts';

export type EntryObserver = {
  look(): Promise<ObservedEntry>;
  /** What somebody who tried has learned; nothing is asked any more. */
  ruleOutSsh(why: string): void;
  stop(): void;
};

export type EntryTarget = { readonly name: string; readonly port: number; readonly wants: ObservedEntry['wants'] };

export function observeEntry(deps: ClusterDeps, { name, port, wants }: EntryTarget): EntryObserver {
  const { client, namespace, clock, env } = deps;
  let ssh: SshState = findProgram('ssh', env['PATH']) ? { is: 'unknown' } : { is: 'out', why: 'there is no ssh on this machine' };
  let isAsking = false;
  let prompt: PromptWatch | undefined;
  const askSsh = () => {
    if (isAsking || ssh.is === 'out') return;
    isAsking = true;
    void probeSsh({ connection: deps, namespace, name, port, clock }).then((state) => {
      isAsking = false;
      if (ssh.is !== 'out') ssh = state;
    });
  };
  return {
    async look() {
      const [vm, vmi] = await Promise.all([client.get(VMS, { namespace, name }), client.get(VMIS, { namespace, name })]);
      if (!vm && !vmi) throw new ApiError('NotFound', `there is no virtual machine "${name}" in namespace ${namespace}`);
      if (vmi?.status?.phase === 'Running') {
        askSsh();
        if (wants === 'login' && ssh.is === 'closed') prompt ??= watchPrompt(deps, { namespace, name, clock });
      }
      const since = prompt?.seenSince();
      return { name, wants, vm, vmi, ssh, ...(since !== undefined && { promptForMs: clock.steady() - since }) };
    },
    ruleOutSsh(why) {
      ssh = { is: 'out', why };
    },
    stop: () => prompt?.stop(),
  };
}
