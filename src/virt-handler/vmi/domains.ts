/**
 * The guests of this node that are listened to: a QMP session and a serial console for each, by the key of its VMI. What QEMU says wakes a
 * key of the controller just as a change in the API does.
 */
import { join } from 'node:path';
import { podPath, podVolumePath } from '../../api/core/pod-folder-layout.ts';
import { credentialSourcesOf } from '../../api/kubevirt/access-credentials.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { PUBLIC_VOLUME } from '../../api/launcher/mounts.ts';
import { controllerOf, keyOf } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Logger } from '../../base/log.ts';
import type { TlsIdentity } from '../../base/node/https-fetch.ts';
import { type Source, WakeUps } from '../../reconcile/source.ts';
import { AgentSession } from '../agent/agent-session.ts';
import { keepCredentials } from '../agent/credential-keeper.ts';
import { setClock } from '../agent/set-clock.ts';
import { backupsFrom } from '../backup/open-backup.ts';
import type { RunLogs } from '../console/run-logs.ts';
import { SerialConsole } from '../console/serial-console.ts';
import { diskLinkOf, linkDisk, unlinkDisk } from '../hotplug/disk-link.ts';
import { hotplugEntriesOf } from '../hotplug/hotplug-status.ts';
import { dumpsFrom } from '../memory-dump/open-dump.ts';
import { removeLeftSockets, wayFrom } from '../migration/open-way.ts';
import { GuestProbes, type ProbeFacts } from '../probes/guest-probes.ts';
import { runnerIn } from '../suspension/become-another.ts';
import { storeFrom } from '../suspension/open-store.ts';
import type { Domain } from './domain.ts';
import type { DomainAction } from './domain-action.ts';
import { noSuchGuest } from './no-such-guest.ts';
import type { Followed, SeenLink } from './observed.ts';
import { DomainSession } from './session.ts';

export type DomainsOptions = {
  readonly kubeletRoot: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Keeps what guests printed in runs that are over. */
  readonly runLogs?: RunLogs;
  /** What we show to other virt-handlers, to which guests are moved. */
  readonly identity?: () => TlsIdentity | undefined;
  /** A guest has begun anew. */
  readonly onReset?: (key: string) => void;
  /** A guest has panicked: what QEMU tells of that. */
  readonly onPanic?: (key: string, told: JsonObject) => void;
  /** Whether a guest takes connections at a port: undefined when it does, else why not. */
  readonly takesConnection: (key: string, port: number, signal: AbortSignal) => Promise<string | undefined>;
};

export type Guest = Followed & {
  readonly key: string;
  /** Where the kubelet keeps what belongs to its Pod. */
  readonly podFolder: string;
  /** Where its sockets are. */
  readonly folder: string;
  readonly session: DomainSession;
  readonly console: SerialConsole;
  readonly agent: AgentSession;
  readonly probes: GuestProbes;
  /** Keeps what it printed, once; for when its run is over. */
  readonly keepLog: () => void;
  /** Why the socket of a hotplugged volume is not where QEMU finds it, by volume. */
  readonly linkFailures: Map<string, string>;
  /** Ends what else is done for it. */
  readonly ended: AbortController;
  stoppingSince?: number;
};

/** A guest that goes on elsewhere, or that never came, has not ended. */
function isRunOver({ state }: Domain): boolean {
  return state !== 'moved' && state !== 'incoming';
}

/** The guest stands still because it is on its way to another node. */
function isLeaving({ state, commands }: Domain): boolean {
  if (state === 'switching' || state === 'moved') return true;
  return state === 'paused' && Object.values(commands).some(({ command, is }) => command.name === 'send' && is === 'running');
}

export class Domains {
  readonly #options: DomainsOptions;
  readonly #guests = new Map<string, Guest>();
  readonly #wakeUps = new WakeUps();

  constructor(options: DomainsOptions) {
    this.#options = options;
  }

  /** Tells of guests that look different now. */
  get changes(): Source {
    return this.#wakeUps;
  }

  /** Performs what was decided on a guest besides writes to the API. Nothing is waited for: what comes of it is in the next observation. */
  act(action: DomainAction, vmi: VirtualMachineInstance): undefined {
    const key = keyOf(vmi.metadata);
    const guest = this.#guests.get(key);
    switch (action.do) {
      case 'follow':
        this.#forget(key); // another one of this name
        this.#guests.set(key, this.#open(key, { vmi, podUid: action.podUid }));
        return;
      case 'forget':
        this.#forget(key);
        return;
      case 'start grace period':
        if (guest) guest.stoppingSince ??= this.#options.clock.now();
        return;
      case 'link disk':
        if (guest) this.#link(guest, action);
        return;
      case 'unlink disk':
        if (guest) unlinkDisk({ folder: guest.folder, ...action });
        return;
      case 'set clock':
        if (guest) void setClock(guest.agent, { ...this.#options, signal: guest.ended.signal });
        return;
      case 'command':
        guest?.session.order(action.id, action.command);
        return;
    }
  }

  /** Whose sessions are open under this name. */
  followed(key: string): Followed | undefined {
    return this.#guests.get(key);
  }

  /** What the guest looks like now. */
  domainOf(key: string): Domain | undefined {
    return this.#guests.get(key)?.session.domain;
  }

  /** How far the sockets of its hotplugged volumes are. */
  linksOf(key: string, vmi: VirtualMachineInstance): Readonly<Record<string, SeenLink>> | undefined {
    const [guest, entries] = [this.#guests.get(key), hotplugEntriesOf(vmi)];
    if (!guest || entries.length === 0) return undefined;
    const ends = { kubeletRoot: this.#options.kubeletRoot, folder: guest.folder };
    return Object.fromEntries(
      entries.map(({ name, hotplugVolume }): [string, SeenLink] => {
        const is = diskLinkOf({ ...ends, volume: name, attachPodUid: hotplugVolume?.attachPodUID });
        const failure = is === 'linked' ? undefined : guest.linkFailures.get(name);
        return [name, { is, ...(failure !== undefined && { failure }) }];
      }),
    );
  }

  /** When this process learned that the guest is to stop. */
  stoppingSince(key: string): number | undefined {
    return this.#guests.get(key)?.stoppingSince;
  }

  /** A guest that is followed; throws NotFound for any other. */
  guest(key: string): Guest {
    const guest = this.#guests.get(key);
    if (!guest) throw noSuchGuest(key);
    return guest;
  }

  /** All that are followed. */
  guests(): readonly Guest[] {
    return [...this.#guests.values()];
  }

  /** Sends a line to the human monitor of a guest that is followed. */
  async monitor(key: string, line: string): Promise<string> {
    return this.guest(key).session.monitor(line);
  }

  /** The agent in a guest that is followed, whether it is there or not. */
  agentOf(key: string): AgentSession | undefined {
    return this.#guests.get(key)?.agent;
  }

  /** What the probes inside a guest say. */
  probesOf(key: string): ProbeFacts | undefined {
    return this.#guests.get(key)?.probes.facts;
  }

  close(): void {
    for (const key of [...this.#guests.keys()]) this.#release(key);
  }

  /** Why a socket could not be put into place is shown with the volume. */
  #link({ folder, linkFailures }: Guest, { volume, attachPodUid }: { readonly volume: string; readonly attachPodUid: string }): void {
    try {
      linkDisk({ kubeletRoot: this.#options.kubeletRoot, folder, volume, attachPodUid });
      linkFailures.delete(volume);
    } catch (error) {
      linkFailures.set(volume, messageOf(error));
      throw error;
    }
  }

  /** For a guest whose instance or Pod is gone: that may be known before its sessions notice. */
  #forget(key: string): void {
    const guest = this.#guests.get(key);
    if (guest && isRunOver(guest.session.domain)) guest.keepLog();
    this.#release(key);
  }

  #release(key: string): void {
    const guest = this.#guests.get(key);
    this.#guests.delete(key);
    guest?.session.close();
    guest?.console.close(guest.session.domain.state === 'moved' ? 'moved' : 'ended');
    guest?.agent.close();
    guest?.ended.abort();
  }

  #logKeeper(vmUid: string | undefined, serial: SerialConsole): () => void {
    const { runLogs, clock, log } = this.#options;
    let isKept = false;
    return () => {
      if (isKept || !runLogs || vmUid === undefined) return;
      isKept = true;
      runLogs
        .keep(vmUid, { endedAtMs: clock.now(), printed: serial.past() })
        .catch((error: unknown) => log.warn('cannot keep what a guest printed', { error }));
    };
  }

  #open(key: string, { vmi, podUid }: Followed): Guest {
    const vmUid = controllerOf(vmi)?.uid ?? vmi.metadata.uid;
    const { kubeletRoot, clock } = this.#options;
    const log = this.#options.log.with({ object: `VirtualMachineInstance ${key}` });
    const podFolder = join(kubeletRoot, podPath(podUid));
    const folder = join(podFolder, podVolumePath('empty-dir', PUBLIC_VOLUME.name));
    const isStart = vmi.status?.phase !== 'Running'; // else it came from another node, or was here before us
    const serial = new SerialConsole({ folder, clock, log, isStart });
    const keepLog = this.#logKeeper(vmUid, serial);
    const wake = () => this.#wakeUps.wake(key);
    const agent = new AgentSession({ folder, clock, log, onChange: wake });
    const onChange = (domain: Domain) => {
      if (domain.isConnected) serial.open();
      if (domain.isAgentOpen !== undefined) agent.portIs(domain.isAgentOpen && !domain.isGone);
      if (domain.isGone) {
        if (isRunOver(domain)) keepLog();
        serial.close(domain.state === 'moved' ? 'moved' : 'ended');
      } else serial.hold(isLeaving(domain));
      wake();
    };
    const ended = new AbortController();
    void keepCredentials({ agent, sources: credentialSourcesOf(vmi.spec), podFolder, clock, log }, ended.signal);
    const { name, namespace = '' } = vmi.metadata;
    const identity = () => this.#options.identity?.();
    removeLeftSockets(folder);
    const openWay = wayFrom({ folder, guest: { namespace, name }, identity, printed: () => serial.giveAway(), log });
    const openStore = storeFrom({ kubeletRoot, folder, clock });
    const dumps = dumpsFrom({ kubeletRoot, folder, clock });
    const backups = backupsFrom({ kubeletRoot, folder, clock });
    const onReset = () => this.#options.onReset?.(key);
    const onPanic = (told: JsonObject) => this.#options.onPanic?.(key, told);
    const runInGuest = runnerIn(agent, clock, ended.signal);
    const ways = { openWay, openStore, dumps, backups, runInGuest, quiesce: agent };
    const session = new DomainSession({ folder, clock, log, onChange, onReset, onPanic, ...ways });
    const takesConnection = (port: number, signal: AbortSignal) => this.#options.takesConnection(key, port, signal);
    const stateOf = () => session.domain.state;
    const probes = new GuestProbes({ vmi, agent, stateOf, takesConnection, clock, onChange: wake }, ended.signal);
    return { key, vmi, podUid, podFolder, folder, session, console: serial, agent, probes, keepLog, linkFailures: new Map(), ended };
  }
}
