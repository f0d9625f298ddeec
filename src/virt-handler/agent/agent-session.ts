/**
 * The agent of one guest, followed for as long as the guest has its port open: asked at once what it knows, and then less and less often.
 * A guest that is silent, lies or floods costs a question now and then, and nothing else waits for it.
 */
import { join } from 'node:path';
import type { GuestOsInfo } from '../../api/handler/answers.ts';
import { AGENT_SOCKET } from '../../api/launcher/files.ts';
import type { Clock } from '../../base/clock.ts';
import { ApiError, messageOf } from '../../base/errors.ts';
import { deepEqual } from '../../base/json.ts';
import type { Logger } from '../../base/log.ts';
import { connectUnixSocket } from '../../qemu/qmp/connect-socket.ts';
import { AgentChannel, AgentRefusal, type Question } from './channel.ts';
import { type GuestNic, missingCommands, readIsFrozen, readNics, readOsInfo, readVersion } from './facts.ts';

export type AgentFacts = {
  /** Unknown until the port was asked about, and until an agent that has it open has answered or failed to. */
  readonly state: 'unknown' | 'absent' | 'connected';
  readonly os?: GuestOsInfo;
  readonly nics?: readonly GuestNic[];
  readonly isFrozen?: boolean;
  /** Commands that the agent ought to have. */
  readonly missing?: readonly string[];
  /** Whether the guest has the keys and passwords it is to have; absent before anybody tried. */
  readonly credentials?: CredentialState;
};
export type CredentialState = { readonly isSynced: boolean; readonly message?: string };
export type AgentSessionOptions = {
  /** Where QEMU made its sockets. */
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly onChange: () => void;
};

const UNKNOWN: AgentFacts = { state: 'unknown' };
const ABSENT: AgentFacts = { state: 'absent' };
/** Addresses come and go while a guest starts, and seldom later. */
const FIRST_POLL_MS = 5_000;
const LAST_POLL_MS = 120_000;
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 60_000;
/** A guest that opens and closes its port again and again would be written about each time: after a few times within a minute it waits. */
const FLAP_MS = 60_000;
const FREE_OPENS = 3;
const MOST_WAITING = 32;
const FREEZE_TIMEOUT_MS = 60_000;
const THAW_RETRY_MS = 5_000;
/** For a freeze that nobody here remembers: whoever asked for it has gone. */
const FORGOTTEN_FREEZE_MS = 60_000;

export class AgentSession {
  readonly #options: AgentSessionOptions;
  #facts: AgentFacts = UNKNOWN;
  /** Of the time in which the port has been open. */
  #open: AbortController | undefined;
  #channel: AgentChannel | undefined;
  #waiting = 0;
  #opened = 0;
  /** When the port was opened, within the last minute. */
  #openedAt: readonly number[] = [];
  #change = Promise.withResolvers<void>();
  /** Aborted when the guest need no longer be thawed by itself. */
  #thaw: AbortController | undefined;

  constructor(options: AgentSessionOptions) {
    this.#options = options;
  }

  get facts(): AgentFacts {
    return this.#facts;
  }

  /** How often the port was opened: the guest may be another than the time before. */
  get opened(): number {
    return this.#opened;
  }

  /** Resolves at the next change of the facts, or when the other does. */
  changed(orWhen: Promise<void>): Promise<void> {
    return Promise.race([this.#change.promise, orWhen]);
  }

  showCredentials(credentials: CredentialState): void {
    this.#show({ credentials });
  }

  /** QEMU tells whether something in the guest has opened the port. */
  portIs(isOpen: boolean): void {
    if (!isOpen) {
      this.close();
      this.#become(ABSENT);
    } else if (!this.#open) {
      this.#open = new AbortController();
      this.#opened++;
      const now = this.#options.clock.steady();
      this.#openedAt = [...this.#openedAt.filter((at) => now - at < FLAP_MS), now].slice(-16);
      void this.#run(this.#open.signal);
    }
  }

  /** Asks one question now; throws Conflict when there is no agent to ask. */
  async ask(question: Question): Promise<unknown> {
    const channel = this.#channel;
    if (this.#facts.state !== 'connected' || !channel || channel.isEnded)
      throw new ApiError('Conflict', 'VMI does not have guest agent connected');
    if (this.#waiting >= MOST_WAITING) throw new ApiError('TooManyRequests', 'too many questions wait for the guest agent');
    this.#waiting++;
    try {
      return await channel.ask(question);
    } finally {
      this.#waiting--;
    }
  }

  /** Freezes the guest's file systems, until `thaw` or, at the latest, `forMs` from now. */
  async freeze(forMs: number): Promise<void> {
    if (readIsFrozen(await this.ask({ command: 'guest-fsfreeze-status' }))) return this.#frozenFor(forMs);
    try {
      await this.ask({ command: 'guest-fsfreeze-freeze', timeoutMs: FREEZE_TIMEOUT_MS });
      this.#frozenFor(forMs);
    } catch (error) {
      // Some may be frozen; and an agent that answers late would freeze them after we have given up.
      this.#frozenFor(0);
      throw error;
    }
  }

  async thaw(): Promise<void> {
    await this.ask({ command: 'guest-fsfreeze-thaw', timeoutMs: FREEZE_TIMEOUT_MS });
    this.#thaw?.abort();
    this.#thaw = undefined;
    this.#show({ isFrozen: false });
  }

  close(): void {
    this.#open?.abort();
    this.#open = undefined;
    this.#thaw?.abort();
    this.#thaw = undefined;
    this.#channel?.close();
    this.#channel = undefined;
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { folder, clock, log } = this.#options;
    let retryMs = FIRST_RETRY_MS;
    const flaps = this.#openedAt.length - FREE_OPENS;
    if (flaps > 0) await clock.sleep(Math.min(FIRST_RETRY_MS * 2 ** flaps, FLAP_MS), signal);
    while (!signal.aborted) {
      try {
        const channel = new AgentChannel(await connectUnixSocket(join(folder, AGENT_SOCKET), signal), clock);
        if (signal.aborted) return channel.close();
        this.#channel = channel;
        for (let pollMs = FIRST_POLL_MS; !signal.aborted; pollMs = Math.min(2 * pollMs, LAST_POLL_MS)) {
          await this.#look(channel, signal);
          retryMs = FIRST_RETRY_MS;
          await clock.sleep(pollMs, signal);
        }
      } catch (error) {
        if (signal.aborted) return;
        this.#channel?.close();
        log.debug('the guest agent does not answer', { error: messageOf(error) });
        // A guest that is paused or busy has an agent all the same.
        if (this.#facts.state === 'unknown') this.#become(ABSENT);
        await clock.sleep(retryMs, signal);
        retryMs = Math.min(2 * retryMs, LAST_RETRY_MS);
      }
    }
  }

  /** Throws when there is no sensible conversation; an agent that refuses a question has said that it cannot tell. */
  async #look(channel: AgentChannel, signal: AbortSignal): Promise<void> {
    const ask = async <T>(command: string, read: (answer: unknown) => T): Promise<T | undefined> => {
      try {
        return read(await channel.ask({ command }));
      } catch (error) {
        if (error instanceof AgentRefusal) return undefined;
        throw error;
      }
    };
    const version = await ask('guest-info', readVersion);
    const isFrozen = await ask('guest-fsfreeze-status', readIsFrozen);
    // A frozen agent refuses these; what it said before still holds.
    const os = (await ask('guest-get-osinfo', readOsInfo)) ?? this.#facts.os;
    const nics = (await ask('guest-network-get-interfaces', readNics)) ?? this.#facts.nics;
    if (signal.aborted) return;
    const missing = version && !isFrozen ? missingCommands(version) : (this.#facts.missing ?? []);
    const { credentials } = this.#facts;
    const known = { ...(os && { os }), ...(nics && { nics }), ...(credentials && { credentials }) };
    this.#become({ state: 'connected', missing, isFrozen: isFrozen === true, ...known });
    if (isFrozen && !this.#thaw) this.#frozenFor(FORGOTTEN_FREEZE_MS);
  }

  #frozenFor(forMs: number): void {
    const { clock, log } = this.#options;
    this.#thaw?.abort();
    const thaw = new AbortController();
    this.#thaw = thaw;
    this.#show({ isFrozen: true });
    const thawInTime = async () => {
      await clock.sleep(forMs, thaw.signal);
      while (!thaw.signal.aborted) {
        try {
          await this.thaw();
          log.info('thaw', { because: 'nobody thawed the guest in time' });
        } catch (error) {
          log.warn('cannot thaw the guest, trying again', { error });
          await clock.sleep(THAW_RETRY_MS, thaw.signal);
        }
      }
    };
    void thawInTime();
  }

  #show(change: Partial<AgentFacts>): void {
    if (this.#facts.state === 'connected') this.#become({ ...this.#facts, ...change });
  }

  #become(next: AgentFacts): void {
    if (deepEqual(next, this.#facts)) return;
    this.#facts = next;
    this.#change.resolve();
    this.#change = Promise.withResolvers();
    this.#options.onChange();
  }
}
