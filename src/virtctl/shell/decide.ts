/**
 * How to enter a machine, or what is waited for.
 *
 *   it does not run, or is paused                        wait
 *   a program, and the agent is connected                agent: no network, no key
 *   a program, and an ssh server answers                 ssh
 *   a program otherwise                                  wait for one of them
 *   a login, and ssh cannot do it, now or ever           console
 *   a login, and an ssh server answers                   ssh
 *   a login, the guest has long been at its prompt, no ssh server   console
 *   a login otherwise                                    wait for the ssh server
 */
import { vmiIs } from '../../api/kubevirt/condition-reasons.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { isFinal, type VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';

/** What is known of the ssh server in the guest. */
export type SshState =
  | { readonly is: 'unknown' }
  | { readonly is: 'open' }
  /** It may come: nothing listens yet, or the guest has no network yet. */
  | { readonly is: 'closed'; readonly why: string }
  /** It will not do: there is no ssh on this machine, no right to use ports, or it does not take our key. */
  | { readonly is: 'out'; readonly why: string };

export type ObservedEntry = {
  readonly name: string;
  readonly wants: 'program' | 'login';
  readonly vm?: VirtualMachine | undefined;
  readonly vmi?: VirtualMachineInstance | undefined;
  readonly ssh: SshState;
  /** For how long the guest has shown a login prompt on its console; undefined when it has not. */
  readonly promptForMs?: number | undefined;
};

export type Entry =
  | { readonly enter: 'agent' | 'ssh' }
  | { readonly enter: 'console'; readonly because: string }
  | { readonly waitFor: string; readonly help?: string };

/** A guest that asks for a name may still be starting its ssh server. */
export const PROMPT_PATIENCE_MS = 30_000;

export function decideEntry(seen: ObservedEntry): Entry {
  const { name, vm, vmi } = seen;
  if (vmi?.status?.phase !== 'Running') {
    const state = vm?.status?.printableStatus ?? vmi?.status?.phase ?? 'Stopped';
    const isOnItsWay = vmi !== undefined && !isFinal(vmi);
    return {
      waitFor: `${name} is ${state}`,
      help: isOnItsWay ? `virtctl why ${name} says what it waits for` : `virtctl start ${name} starts it`,
    };
  }
  if (vmiIs(vmi, 'Paused')) return { waitFor: `${name} is paused`, help: `virtctl unpause ${name} resumes it` };
  return seen.wants === 'program' ? forProgram(seen, vmi) : forLogin(seen);
}

function forProgram({ name, ssh }: ObservedEntry, vmi: VirtualMachineInstance): Entry {
  if (vmiIs(vmi, 'AgentConnected')) return { enter: 'agent' };
  if (ssh.is === 'open') return { enter: 'ssh' };
  return { waitFor: `${name} runs, its guest agent is not connected${ssh.is === 'unknown' ? '' : `, and ${ssh.why}`}` };
}

function forLogin({ name, ssh, promptForMs = 0 }: ObservedEntry): Entry {
  switch (ssh.is) {
    case 'out':
      return { enter: 'console', because: ssh.why };
    case 'open':
      return { enter: 'ssh' };
    case 'closed':
      if (promptForMs >= PROMPT_PATIENCE_MS) return { enter: 'console', because: ssh.why };
      return { waitFor: `${name} runs, but ${ssh.why}`, help: `virtctl console ${name} shows how far it is` };
    case 'unknown':
      return { waitFor: `${name} runs: asking for its ssh server` };
  }
}
