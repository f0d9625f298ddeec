/**
 * One QMP session with one QEMU, kept for as long as the process lives: connects when the socket appears, again when the
 * connection breaks, asks for the status at every event that may have changed it and every few seconds besides.
 * Events that nobody heard are no loss: `-no-shutdown` keeps the state of a guest that ended until it has been asked for.
 */
import { join } from 'node:path';
import { QMP_SOCKET } from '../../api/launcher/files.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import { deepEqual, isObject, type JsonObject } from '../../base/json.ts';
import type { Logger } from '../../base/log.ts';
import { AGENT_PORT } from '../../qemu/convert/input.ts';
import { connectQmp, type QmpClient, type QmpEvent, QmpTimeout } from '../../qemu/qmp/client.ts';
import { codeOf } from '../../qemu/qmp/connect-socket.ts';
import { askBehind } from '../hotplug/ask-behind.ts';
import { askPlugged, type Plugged } from '../hotplug/plugged.ts';
import { Commands } from './commands.ts';
import { type Domain, hasEnded, stateFrom, unknownDomain } from './domain.ts';
import type { BackupWay, DomainCommand, DumpWay, OpenStore, OpenWay, Quiesce, RunInGuest } from './domain-command.ts';
import { commandFor, type GuestAction } from './guest-action.ts';
import { News } from './news.ts';
import { performCommand } from './perform-command.ts';
import type { Performer } from './performer.ts';

export type SessionOptions = {
  /** Where QEMU made its sockets. */
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly onChange: (domain: Domain) => void;
  /** The machine has begun anew. */
  readonly onReset?: () => void;
  /** The guest says that it has panicked: what QEMU tells of that. */
  readonly onPanic?: (told: JsonObject) => void;
  /** Opens the way to the node that the guest is sent to. */
  readonly openWay: OpenWay;
  /** Opens the way to the Pod that writes its memory. */
  readonly openStore: OpenStore;
  /** The way to the Pod that writes a dump of it. */
  readonly dumps: DumpWay;
  /** The way to the Pod that writes a backup of its disks. */
  readonly backups?: BackupWay;
  /** Through its agent. */
  readonly runInGuest?: RunInGuest;
  readonly quiesce?: Quiesce;
};

const POLL_MS = 5_000;
const TIMEOUT_MS = 5_000;
/** A QEMU that is being waited for is found quickly; one that takes long to come is not asked for all the time. */
const RETRY_MS = { soon: 50, later: 500, soonUntil: 15_000 } as const;
/** Between bind and listen a socket refuses too; longer than this it is one that a dead process left behind. */
const REFUSAL_PATIENCE_MS = 1_000;
/** Events after which the status may be another. They only say when to look: a storm of them is one look at a time. */
const TELLING_EVENTS = new Set([
  'STOP',
  'RESUME',
  'SHUTDOWN',
  'RESET',
  'GUEST_PANICKED',
  'SUSPEND',
  'WAKEUP',
  'WATCHDOG',
  'BLOCK_IO_ERROR',
  'MIGRATION',
  'DEVICE_DELETED',
]);

/** Events that say how far a move is, and the copies of its disks. */
const MOVE_EVENTS = new Set(['MIGRATION', 'STOP', 'RESUME', 'JOB_STATUS_CHANGE', 'BLOCK_JOB_READY', 'BLOCK_JOB_COMPLETED']);

/** Commands after which other devices may be plugged in, or have another size. */
const CHANGING_DEVICES: ReadonlySet<DomainCommand['name']> = new Set(['plug', 'unplug', 'insert', 'eject', 'close', 'resize']);

export class DomainSession {
  readonly #options: SessionOptions;
  readonly #abort = new AbortController();
  readonly #commands: Commands;
  #domain: Domain = unknownDomain;
  #qmp: QmpClient | undefined;
  #hadSession = false;
  #refusedSince: number | undefined;
  /** A device has gone since we last looked. */
  #isPlugStale = false;
  readonly #moveNews = new News();
  /** Aborted to look at once instead of at the next poll. */
  #bell = new AbortController();

  constructor(options: SessionOptions) {
    this.#options = options;
    const { clock } = options;
    this.#commands = new Commands({
      clock,
      run: (command, report) => this.#perform(command, report),
      onChange: (commands) => this.#show({ commands }),
    });
    void this.#run();
  }

  get domain(): Domain {
    return this.#domain;
  }

  /** Gives a command and does not wait: what becomes of it is shown in the domain. Under one id one command runs at a time. */
  order(id: string, command: DomainCommand): void {
    this.#commands.give(id, command).catch((error: unknown) => this.#options.log.warn('QMP command failed', { id, error }));
  }

  /** What the human monitor prints for a line: for the few things that QMP itself has no command for. */
  async monitor(line: string): Promise<string> {
    if (!this.#qmp) throw new Error('QEMU is not connected');
    return String(await this.#qmp.execute('human-monitor-command', { 'command-line': line }));
  }

  /** Sends a command and waits for QEMU's answer. */
  async execute(command: string, parameters: object, options: { readonly timeoutMs?: number } = {}): Promise<unknown> {
    if (!this.#qmp) throw new Error('QEMU is not connected');
    return this.#qmp.execute(command, parameters, options);
  }

  /** Does what a person asked for and waits for QEMU's answer. */
  async act(action: GuestAction): Promise<void> {
    await this.#commands.give(action, commandFor(action));
  }

  close(): void {
    this.#abort.abort();
    this.#qmp?.close();
  }

  async #perform(command: DomainCommand, report: Performer['report']): Promise<unknown> {
    if (!this.#qmp) throw new Error('QEMU is not connected');
    try {
      const [qmp, news] = [this.#qmp, this.#moveNews.signal];
      const result = await performCommand({ ...this.#options, qmp, news, report }, command);
      if (CHANGING_DEVICES.has(command.name)) this.#show({ plugged: await this.#askPlugged(qmp) });
      if (command.name === 'become-another') this.#show({ macs: await macsOf(qmp) });
      return result;
    } catch (error) {
      if (error instanceof QmpTimeout) this.#showUnresponsive();
      throw error;
    } finally {
      this.#bell.abort();
    }
  }

  async #run(): Promise<void> {
    const { folder, clock, log } = this.#options;
    const { signal } = this.#abort;
    const onEvent = (event: QmpEvent) => this.#hear(event);
    let waitingSince = clock.steady();
    while (!signal.aborted && !this.#domain.isGone) {
      try {
        const qmp = await connectQmp({ path: join(folder, QMP_SOCKET), signal, clock, timeoutMs: TIMEOUT_MS, onEvent });
        await this.#follow(qmp);
        waitingSince = clock.steady();
      } catch (error) {
        if (signal.aborted) return;
        log.debug('no QMP session', { error: messageOf(error) });
        this.#judge(error);
      }
      await clock.sleep(clock.steady() - waitingSince < RETRY_MS.soonUntil ? RETRY_MS.soon : RETRY_MS.later, signal);
    }
  }

  /** What it means that there is no session. */
  #judge(error: unknown): void {
    const { clock, log } = this.#options;
    switch (codeOf(error)) {
      case 'ENOENT': // QEMU removes its socket when it ends in an orderly way
        this.#show(this.#hadSession ? { isGone: true } : { state: 'absent' });
        break;
      case 'ECONNREFUSED':
        this.#refusedSince ??= clock.steady();
        if (this.#hadSession || clock.steady() - this.#refusedSince >= REFUSAL_PATIENCE_MS) this.#show({ isGone: true });
        break;
      case 'ENOTSOCK':
        if (this.#domain.state !== 'unresponsive') log.error('the QMP socket was replaced', { error }); // once, not at every try
        this.#showUnresponsive();
        break;
      default:
        this.#showUnresponsive();
    }
  }

  /** Looks again and again until the session ends. */
  async #follow(qmp: QmpClient): Promise<void> {
    const { clock, log } = this.#options;
    this.#qmp = qmp;
    this.#hadSession = true;
    void qmp.closed.then(() => this.#bell.abort());
    try {
      while (true) {
        this.#bell = new AbortController(); // before the question, so that an event during it is not missed
        await this.#look(qmp);
        await clock.sleep(POLL_MS, this.#bell.signal);
      }
    } catch (error) {
      log.debug('the QMP session ended', { error: messageOf(error) });
    } finally {
      this.#qmp = undefined;
      qmp.close();
      this.#show({ isConnected: false });
    }
  }

  async #askPlugged(qmp: QmpClient): Promise<Plugged> {
    return { ...(await askPlugged(qmp)), behind: await askBehind(this.#options.folder) };
  }

  /** Throws when the session has ended. */
  async #look(qmp: QmpClient): Promise<void> {
    try {
      const macs = this.#domain.macs ?? (await macsOf(qmp));
      if (!this.#domain.isConnected || this.#isPlugStale) {
        this.#isPlugStale = false;
        this.#show({ plugged: await this.#askPlugged(qmp) });
      }
      // A session that begins may have missed that the port was opened or closed; from then on QEMU tells.
      if (!this.#domain.isConnected) this.#show({ isAgentOpen: await isAgentOpen(qmp) });
      this.#show({ macs, state: stateFrom(await qmp.execute('query-status')), isConnected: true });
    } catch (error) {
      if (!(error instanceof QmpTimeout)) throw error;
      this.#showUnresponsive();
    }
  }

  #hear({ event, data }: QmpEvent): void {
    if (event === 'SHUTDOWN') {
      // Remembered at once: QEMU may be killed before it can be asked. Only the guest itself makes it a shutdown.
      const shutdownReason = typeof data['reason'] === 'string' ? data['reason'] : 'unknown';
      this.#show({ shutdownReason, ...(data['guest'] === true && { state: 'shutdown' }) });
    }
    if (event === 'VSERPORT_CHANGE' && data['id'] === AGENT_PORT) this.#show({ isAgentOpen: data['open'] === true });
    if (event === 'RESET') this.#options.onReset?.();
    if (event === 'GUEST_PANICKED') {
      this.#show({ state: 'panicked' });
      this.#options.onPanic?.(data);
    }
    if (event === 'DEVICE_DELETED') this.#isPlugStale = true;
    if (MOVE_EVENTS.has(event)) this.#moveNews.tell();
    if (TELLING_EVENTS.has(event)) this.#bell.abort();
  }

  #showUnresponsive(): void {
    if (!hasEnded(this.#domain)) this.#show({ state: 'unresponsive' });
  }

  #show(change: Partial<Domain>): void {
    const next = { ...this.#domain, ...change };
    if (deepEqual(next, this.#domain)) return;
    this.#domain = next;
    if (!this.#abort.signal.aborted) this.#options.onChange(next);
  }
}

/** Addresses of the cards that tell them, in the order they were made. */
async function macsOf(qmp: QmpClient): Promise<string[]> {
  const filters = await qmp.execute('query-rx-filter');
  if (!Array.isArray(filters)) return [];
  return filters.map((filter: unknown) => (isObject(filter) ? String(filter['main-mac']) : '')).slice(0, 256);
}

async function isAgentOpen(qmp: QmpClient): Promise<boolean> {
  const backends = await qmp.execute('query-chardev');
  if (!Array.isArray(backends)) return false;
  return backends.some((each: unknown) => isObject(each) && each['label'] === AGENT_PORT && each['frontend-open'] === true);
}
