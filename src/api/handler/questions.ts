/** What is asked of virt-handler beyond the path, and how it is read from what somebody sent. */
import { ApiError } from '../../base/errors.ts';
import { parseGoDuration } from '../../base/go-duration.ts';
import type { JsonObject } from '../../base/json.ts';
import type { MoveChannel } from '../launcher/files.ts';
import { type GuestHost, readGuestHost } from './guest-host.ts';
import { HISTORY_SECONDS } from './usage-history.ts';

/**
 * `shared`: beside others, with what was printed before; `follow: false`: only that. `from`: comes back after the guest has moved, and has seen
 * so many bytes of what was printed before.
 */
export type ConsoleQuestion = {
  readonly shared?: boolean;
  readonly write?: boolean;
  readonly follow?: boolean;
  readonly from?: number;
};
export type ScreenQuestion = { readonly shared?: boolean; readonly write?: boolean; readonly preserveSession?: boolean };
/** `moveCursor` wakes a screen that has gone dark. */
export type ScreenshotQuestion = { readonly moveCursor?: boolean };
/** How long at most, as Go writes durations. */
export type FreezeQuestion = { readonly unfreezeTimeout?: string };
/** A program and its arguments; what it reads, as base64; how long it may take. */
export type ExecQuestion = { readonly command: readonly string[]; readonly input?: string; readonly timeoutSeconds?: number };

/** How far back. */
export type UsageHistoryQuestion = { readonly seconds?: number };
/** Which of the streams of a move; with `host` it is asked whether the guest can go on there. */
export type MigrationQuestion = { readonly channel: MoveChannel; readonly host?: GuestHost | undefined };

const MOST_WORDS = 256;

export function readConsoleQuestion(given: JsonObject): ConsoleQuestion {
  const from = /^\d{1,15}$/.test(String(given['from'])) ? { from: Number(given['from']) } : {};
  return { ...flagsIn(given, ['shared', 'write', 'follow']), ...from };
}

export function readScreenQuestion(given: JsonObject): ScreenQuestion {
  return flagsIn(given, ['shared', 'write', 'preserveSession']);
}

export function readScreenshotQuestion(given: JsonObject): ScreenshotQuestion {
  const { moveCursor } = given;
  if (moveCursor === undefined || moveCursor === '') return {};
  const flag = flagOf(moveCursor);
  if (flag !== undefined) return { moveCursor: flag };
  throw new ApiError('BadRequest', `moveCursor: Invalid value: ${JSON.stringify(moveCursor)}: must be true or false`);
}

export function readFreezeQuestion({ unfreezeTimeout }: JsonObject): FreezeQuestion {
  if (unfreezeTimeout === undefined || unfreezeTimeout === null) return {};
  if (typeof unfreezeTimeout === 'string' && parseGoDuration(unfreezeTimeout) !== undefined) return { unfreezeTimeout };
  throw new ApiError('BadRequest', `unfreezeTimeout: Invalid value: ${JSON.stringify(unfreezeTimeout)}: must be a duration such as 5m0s`);
}

export function readExecQuestion({ command, input, timeoutSeconds }: JsonObject): ExecQuestion {
  return {
    command: commandFrom(command),
    ...(typeof input === 'string' && input !== '' && { input }),
    ...secondsFrom(timeoutSeconds),
  };
}

export function readUsageHistoryQuestion({ seconds }: JsonObject): UsageHistoryQuestion {
  if (seconds === undefined || seconds === '') return {};
  const wanted = Number(seconds);
  if (Number.isInteger(wanted) && wanted > 0 && wanted <= HISTORY_SECONDS) return { seconds: wanted };
  throw new ApiError('BadRequest', `seconds: Invalid value: ${JSON.stringify(seconds)}: must be a number from 1 to ${HISTORY_SECONDS}`);
}

export function readMigrationQuestion({ channel, host }: JsonObject): MigrationQuestion {
  if (channel === 'memory' || channel === 'disks') return { channel, host: readGuestHost(host) };
  throw new ApiError('BadRequest', `channel: Invalid value: ${JSON.stringify(channel)}: must be memory or disks`);
}

/** What is neither true nor false is as if it were not there: browsers and older clients add what they like. */
function flagsIn<Name extends string>(given: JsonObject, names: readonly Name[]): { readonly [Each in Name]?: boolean } {
  const found = names.flatMap((name) => {
    const flag = flagOf(given[name]);
    return flag === undefined ? [] : [[name, flag] as const];
  });
  return Object.fromEntries(found) as { readonly [Each in Name]?: boolean }; // made of these names alone
}

/** In a query a flag is a word. */
function flagOf(value: unknown): boolean | undefined {
  if (value === true || value === 'true') return true;
  return value === false || value === 'false' ? false : undefined;
}

function commandFrom(value: unknown): readonly string[] {
  const words: unknown[] = Array.isArray(value) ? value : [];
  const isCommand = words.length <= MOST_WORDS && words.every((word) => typeof word === 'string' && !word.includes('\0'));
  if (isCommand && words.length > 0 && words[0] !== '') return words as string[]; // each is one
  throw new ApiError('BadRequest', `command: Invalid value: must be a program and its arguments, at most ${MOST_WORDS} words`);
}

function secondsFrom(timeoutSeconds: unknown): Pick<ExecQuestion, 'timeoutSeconds'> {
  if (timeoutSeconds === undefined || timeoutSeconds === null) return {};
  if (typeof timeoutSeconds === 'number' && timeoutSeconds > 0) return { timeoutSeconds };
  throw new ApiError('BadRequest', `timeoutSeconds: Invalid value: ${JSON.stringify(timeoutSeconds)}: must be greater than zero`);
}
