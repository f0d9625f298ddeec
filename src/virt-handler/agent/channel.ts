/**
 * One conversation with the agent inside a guest, over a channel on which the guest may say anything: questions are asked one at a time, each
 * after a fresh `guest-sync-delimited`, so an answer that came too late is never taken for another. Nothing is read between questions: a guest
 * that floods the channel waits in QEMU, at nobody's cost. An answer that is too long, not JSON or too late ends the conversation.
 */
import { randomInt } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { isObject, type JsonObject } from '../../base/json.ts';
import { readable } from './readable.ts';

export type Question = {
  readonly command: string;
  readonly arguments?: object;
  readonly timeoutMs?: number;
  /** The longest answer that is taken. */
  readonly maxBytes?: number;
  /** guest-shutdown is not answered when it works. */
  readonly mayBeSilent?: true;
};

/** The agent understood and refused, in its own words. */
export class AgentRefusal extends Error {
  override readonly name = 'AgentRefusal';
}

const DELIMITER = 0xff;
const NEWLINE = 10;
const SYNC_TIMEOUT_MS = 5_000;
const ANSWER_TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;
/** What may have been left over from before; more than this is a flood. */
const MAX_LEFTOVER_BYTES = 1024 * 1024;
/** Answers to greetings of conversations before this one, which nobody waited for. */
const MOST_GREETINGS = 32;
const DEEPEST = 12;

export class AgentChannel {
  readonly #socket: Socket;
  readonly #clock: Clock;
  #turn: Promise<unknown> = Promise.resolve();
  #isEnded = false;

  constructor(socket: Socket, clock: Clock) {
    this.#socket = socket;
    this.#clock = clock;
    socket.pause();
    socket.on('error', () => {}); // 'close' follows
    socket.once('close', () => {
      this.#isEnded = true;
    });
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** What the agent returned. Throws AgentRefusal when it refused; after any other failure the conversation is over. */
  ask(question: Question): Promise<unknown> {
    const turn = this.#turn.catch(() => {}).then(() => this.#ask(question));
    this.#turn = turn;
    return turn;
  }

  close(): void {
    this.#isEnded = true;
    this.#socket.destroy();
  }

  async #ask(question: Question): Promise<unknown> {
    try {
      await this.#sync();
      return await this.#answerTo(question);
    } catch (error) {
      if (!(error instanceof AgentRefusal)) this.close();
      throw error;
    } finally {
      this.#socket.pause();
    }
  }

  async #sync(): Promise<void> {
    const id = randomInt(1, 2 ** 31);
    const question = JSON.stringify({ execute: 'guest-sync-delimited', arguments: { id } });
    // The delimiter makes the agent forget half a question, and complain; what it says of that comes before its own delimiter.
    this.#write(Buffer.concat([Buffer.of(DELIMITER), Buffer.from(`${question}\n`)]));
    const deadline = this.#clock.steady() + SYNC_TIMEOUT_MS;
    // Counted, not only timed: greetings that are all there already are read without any time passing for others.
    for (let greetings = 0; greetings < MOST_GREETINGS; greetings++) {
      const limits = { timeoutMs: deadline - this.#clock.steady(), what: 'a greeting' };
      await this.#readTo(DELIMITER, { ...limits, maxBytes: MAX_LEFTOVER_BYTES, isKept: false });
      const line = await this.#readTo(NEWLINE, { ...limits, maxBytes: MAX_ANSWER_BYTES, isKept: true });
      if (parse(line)?.['return'] === id) return;
    }
    throw new Error(`the guest agent greeted ${MOST_GREETINGS} times, and never as it was asked to`);
  }

  async #answerTo(question: Question): Promise<unknown> {
    const { command, timeoutMs = ANSWER_TIMEOUT_MS, maxBytes = MAX_ANSWER_BYTES, mayBeSilent } = question;
    this.#write(`${JSON.stringify({ execute: command, arguments: question.arguments })}\n`);
    if (mayBeSilent) return undefined;
    const line = await this.#readTo(NEWLINE, { timeoutMs, maxBytes, isKept: true, what: command });
    const answer = parse(line);
    if (!answer) throw new Error(`the guest agent answered ${command} with something that is not JSON`);
    const { error } = answer;
    if (isObject(error))
      throw new AgentRefusal(`the guest agent refused ${command}: ${readable(error['desc'], 256) ?? 'it does not say why'}`);
    return answer['return'];
  }

  #write(bytes: Buffer | string): void {
    if (this.#isEnded) throw new Error('the channel of the guest agent is closed');
    this.#socket.write(bytes);
  }

  /** Reads up to and without the byte; what comes after it stays for the next reader. */
  #readTo(byte: number, limits: { timeoutMs: number; maxBytes: number; isKept: boolean; what: string }): Promise<Buffer> {
    const { timeoutMs, maxBytes, isKept, what } = limits;
    const socket = this.#socket;
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    const pieces: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer) => {
      const end = chunk.indexOf(byte);
      const piece = end < 0 ? chunk : chunk.subarray(0, end);
      size += piece.length;
      if (isKept) pieces.push(piece);
      if (size > maxBytes) return reject(new Error(`the guest agent answered ${what} with more than ${maxBytes} bytes`));
      if (end < 0) return;
      socket.pause();
      const rest = chunk.subarray(end + 1);
      socket.off('data', onData);
      if (rest.length > 0) socket.unshift(rest);
      resolve(Buffer.concat(pieces));
    };
    const onClose = () => reject(new Error('the channel of the guest agent was closed'));
    const answered = new AbortController();
    void this.#clock.sleep(Math.max(timeoutMs, 0), answered.signal).then(() => {
      if (!answered.signal.aborted) reject(new Error(`the guest agent did not answer ${what} within ${Math.round(timeoutMs / 1000)} s`));
    });
    if (this.#isEnded) onClose();
    socket.once('close', onClose).on('data', onData).resume();
    return promise.finally(() => {
      answered.abort();
      socket.off('data', onData).off('close', onClose);
    });
  }
}

function parse(line: Buffer): JsonObject | undefined {
  if (isDeep(line)) return undefined;
  try {
    const value: unknown = JSON.parse(line.toString('utf8'));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** No answer of an agent is nested deeply; one that is was made to exhaust whoever walks through it. Brackets in strings count, too. */
function isDeep(line: Buffer): boolean {
  let depth = 0;
  for (const byte of line) {
    if (byte === 0x7b || byte === 0x5b) depth++;
    else if (byte === 0x7d || byte === 0x5d) depth--;
    if (depth > DEEPEST) return true;
  }
  return false;
}
