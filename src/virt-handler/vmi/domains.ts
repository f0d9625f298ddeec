/**
 * The guests of this node: a QMP session and a serial console for each, by the key of its VMI. To the controller they are one more
 * cache, so that what QEMU says wakes a key just as a change in the API does.
 */
import { join } from 'node:path';
import { isPodFinal, type Pod } from '../../api/core/pod.ts';
import { podPath, podVolumePath } from '../../api/core/pod-folder-layout.ts';
import { credentialSourcesOf } from '../../api/kubevirt/access-credentials.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { PUBLIC_VOLUME } from '../../api/launcher/mounts.ts';
import { controllerOf, fromKey, type KubeObject } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import { ApiError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { Cache, Change } from '../../client/cache.ts';
import { AgentSession } from '../agent/agent-session.ts';
import { answerFor, type GuestQuestion } from '../agent/answer.ts';
import { keepCredentials } from '../agent/credential-keeper.ts';
import type { RunLogs } from '../console/run-logs.ts';
import { takeScreenshot } from '../console/screenshot.ts';
import { SerialConsole } from '../console/serial-console.ts';
import { GuestProbes, type ProbeFacts } from '../probes/guest-probes.ts';
import type { Command } from './decide.ts';
import { type Domain, unknownDomain } from './domain.ts';
import type { GuestAction } from './guest-action.ts';
import { DomainSession } from './session.ts';
import { readUsage, type Usage } from './usage.ts';

export type DomainObject = KubeObject & { readonly kind: 'Domain' };
export type DomainsOptions = {
  readonly kubeletRoot: string;
  /** Where the `/proc` of the node is mounted, when that is not ours. */
  readonly nodeProcesses?: string | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  /** Keeps what guests printed in runs that are over. */
  readonly runLogs?: RunLogs;
  /** Whether a guest takes connections at a port: undefined when it does, else why not. */
  readonly takesConnection: (key: string, port: number, signal: AbortSignal) => Promise<string | undefined>;
};

type Guest = {
  readonly vmiUid: string | undefined;
  readonly podUid: string;
  /** Where its sockets are. */
  readonly folder: string;
  readonly session: DomainSession;
  readonly console: SerialConsole;
  readonly agent: AgentSession;
  readonly probes: GuestProbes;
  /** Keeps what it printed, once; for when its run is over. */
  readonly keepLog: () => void;
  /** Ends what else is done for it. */
  readonly ended: AbortController;
  stoppingSince?: number;
};

export class Domains {
  readonly #options: DomainsOptions;
  readonly #guests = new Map<string, Guest>();
  readonly #listeners = new Set<(change: Change<DomainObject>) => void>();

  constructor(options: DomainsOptions) {
    this.#options = options;
  }

  /** What the guest of this VMI looks like now; its sessions are opened when its Pod is first seen. */
  follow({ key, vmi, pod }: { key: string; vmi: VirtualMachineInstance; pod: Pod | undefined }): Domain {
    const known = this.#guests.get(key);
    const podUid = pod?.metadata.uid ?? known?.podUid;
    // A guest whose Pod object was removed by force is still the same guest.
    if (known && known.vmiUid === vmi.metadata.uid && known.podUid === podUid) return known.session.domain;
    this.forget(key);
    if (!pod || isPodFinal(pod) || !isUid(pod.metadata.uid)) return unknownDomain;
    const guest = this.#open(key, vmi, pod.metadata.uid);
    this.#guests.set(key, guest);
    return guest.session.domain;
  }

  /** When it was first asked for, which is when this process learned that the guest is to stop. */
  stoppingSince(key: string): number | undefined {
    const guest = this.#guests.get(key);
    if (guest) guest.stoppingSince ??= this.#options.clock.now();
    return guest?.stoppingSince;
  }

  order(key: string, command: Command): void {
    this.#guests.get(key)?.session.order(command);
  }

  /** Sends a line to the human monitor of a guest that is followed. */
  async monitor(key: string, line: string): Promise<string> {
    const guest = this.#guests.get(key);
    if (!guest) throw new Error(`there is no guest ${key} here`);
    return guest.session.monitor(line);
  }

  /** Makes the QEMU of a guest obey; throws when it does not. */
  async act(key: string, action: GuestAction): Promise<void> {
    const guest = this.#guests.get(key);
    if (!guest) throw new Error(`there is no guest ${key} here`);
    // Whoever listens inside reboots in order; the keys are for guests without an agent.
    if (action === 'softreboot' && (await this.#rebootsByAgent(guest))) return;
    await guest.session.act(action);
  }

  /** Asks the agent in a guest; throws when it does not answer. */
  async askAgent(key: string, question: GuestQuestion): Promise<object | undefined> {
    const guest = this.#guests.get(key);
    if (!guest) throw new Error(`there is no guest ${key} here`);
    return answerFor(question)?.(guest.agent, question.body, this.#options.clock);
  }

  /** A picture of the screen of a guest, as PNG. */
  async screenshot(key: string, { movesCursor }: { readonly movesCursor: boolean }): Promise<Buffer> {
    const guest = this.#guests.get(key);
    if (!guest) throw new Error(`there is no guest ${key} here`);
    const { folder, session } = guest;
    return takeScreenshot({ folder, movesCursor, execute: (command, args) => session.execute(command, args) });
  }

  /** What a guest uses of this node. */
  usage(key: string): Usage {
    const guest = this.#guests.get(key);
    if (!guest) throw new ApiError('NotFound', `there is no guest ${key} here`);
    const { podUid } = guest;
    const { kubeletRoot, nodeProcesses, clock } = this.#options;
    return readUsage({ podUid, podFolder: join(kubeletRoot, podPath(podUid)), nodeProcesses }, clock.now());
  }

  /** Where the sockets of a guest that is followed are. */
  folderOf(key: string): string | undefined {
    return this.#guests.get(key)?.folder;
  }

  /** The serial console of a guest that is followed. */
  consoleOf(key: string): SerialConsole | undefined {
    return this.#guests.get(key)?.console;
  }

  /** The agent in a guest that is followed, whether it is there or not. */
  agentOf(key: string): AgentSession | undefined {
    return this.#guests.get(key)?.agent;
  }

  /** What the probes inside a guest say. */
  probesOf(key: string): ProbeFacts | undefined {
    return this.#guests.get(key)?.probes.facts;
  }

  /** For a guest whose instance or Pod is gone: that may be known before its sessions notice. */
  forget(key: string): void {
    this.#guests.get(key)?.keepLog();
    this.#release(key);
  }

  close(): void {
    for (const key of [...this.#guests.keys()]) this.#release(key);
  }

  #release(key: string): void {
    const guest = this.#guests.get(key);
    this.#guests.delete(key);
    guest?.session.close();
    guest?.console.close();
    guest?.agent.close();
    guest?.ended.abort();
  }

  /** The guests as something to watch. Only that one changed is told; what it looks like is asked for with `follow`. */
  asCache(): Cache<DomainObject> {
    return {
      resource: { group: '', version: 'local', plural: 'domains', kind: 'Domain', isNamespaced: true },
      get: (key) => (this.#guests.has(key) ? objectOf(key) : undefined),
      list: () => [...this.#guests.keys()].map(objectOf),
      byIndex: () => [],
      subscribe: (listener) => {
        this.#listeners.add(listener);
        return () => this.#listeners.delete(listener);
      },
      synced: Promise.resolve(),
    };
  }

  #logKeeper(machineUid: string | undefined, serial: SerialConsole): () => void {
    const { runLogs, clock, log } = this.#options;
    let isKept = false;
    return () => {
      if (isKept || !runLogs || machineUid === undefined) return;
      isKept = true;
      runLogs
        .keep(machineUid, { endedAtMs: clock.now(), printed: serial.past() })
        .catch((error: unknown) => log.warn('cannot keep what a guest printed', { error }));
    };
  }

  async #rebootsByAgent({ agent }: Guest): Promise<boolean> {
    if (agent.facts.state !== 'connected') return false;
    try {
      await agent.ask({ command: 'guest-shutdown', arguments: { mode: 'reboot' }, mayBeSilent: true });
      return true;
    } catch (error) {
      this.#options.log.warn('the guest agent does not reboot its guest', { error });
      return false;
    }
  }

  #open(key: string, vmi: VirtualMachineInstance, podUid: string): Guest {
    const machineUid = controllerOf(vmi)?.uid ?? vmi.metadata.uid;
    const { kubeletRoot, clock } = this.#options;
    const log = this.#options.log.with({ object: `VirtualMachineInstance ${key}` });
    const podFolder = join(kubeletRoot, podPath(podUid));
    const folder = join(podFolder, podVolumePath('empty-dir', PUBLIC_VOLUME.name));
    const serial = new SerialConsole({ folder, clock, log });
    const keepLog = this.#logKeeper(machineUid, serial);
    const tell = () => {
      const object = objectOf(key);
      for (const listener of this.#listeners) listener({ type: 'modified', key, object, old: object });
    };
    const agent = new AgentSession({ folder, clock, log, onChange: tell });
    const onChange = (domain: Domain) => {
      if (domain.isConnected) serial.open();
      if (domain.isAgentOpen !== undefined) agent.portIs(domain.isAgentOpen && !domain.isGone);
      if (domain.isGone) {
        keepLog();
        serial.close();
      }
      tell();
    };
    const ended = new AbortController();
    void keepCredentials({ agent, sources: credentialSourcesOf(vmi.spec), podFolder, clock, log }, ended.signal);
    const session = new DomainSession({ folder, clock, log, onChange });
    const takesConnection = (port: number, signal: AbortSignal) => this.#options.takesConnection(key, port, signal);
    const stateOf = () => session.domain.state;
    const probes = new GuestProbes({ vmi, agent, stateOf, takesConnection, clock, onChange: tell }, ended.signal);
    return { vmiUid: vmi.metadata.uid, podUid, folder, session, console: serial, agent, probes, keepLog, ended };
  }
}

function objectOf(key: string): DomainObject {
  return { apiVersion: 'local', kind: 'Domain', metadata: fromKey(key) };
}

/** It becomes part of a path. */
function isUid(uid: string | undefined): uid is string {
  return uid !== undefined && /^[A-Za-z0-9][A-Za-z0-9-]{0,127}$/.test(uid);
}
