/** What can be asked of a QEMU, as values: a command with everything it needs, and how one that was given is doing. */

/** By the names that QMP gives them. */
export type DomainCommand =
  | { readonly name: 'cont' | 'stop' | 'system_powerdown' | 'system_reset' | 'quit' }
  /** Keys that are pressed together, in QEMU's words for them. */
  | { readonly name: 'send-key'; readonly keys: readonly string[] }
  /** Gets a QEMU that waits for a guest ready to take it. */
  | { readonly name: 'receive'; readonly disks: readonly string[] }
  /** Sends the guest away. Done means: it is in the other QEMU, stopped, and this one has let go of its disks. */
  | { readonly name: 'send'; readonly disks: readonly string[]; readonly to: MoveTarget; readonly timeoutMs: number }
  /** Calls back a guest that is being sent. */
  | { readonly name: 'call-back'; readonly disks: readonly string[] }
  /** Ends the taking of a guest; it runs here from then on, unless it was paused. */
  | { readonly name: 'arrive'; readonly runs: boolean };

/** The virt-handler that takes a guest, and for which migration. */
export type MoveTarget = { readonly host: string; readonly port: number; readonly migrationUid: string };

export type Way = { close(): void };
/** Resolves when QEMU can connect; what it sends goes to that node until closed. */
export type OpenWay = (to: MoveTarget) => Promise<Way>;

/** In whatever QEMU counts: bytes, most often. */
export type CommandProgress = { readonly done: number; readonly total: number };

/** How a command is doing: part of what is observed of a guest, so that a decision can build on it. */
export type CommandState = {
  readonly command: DomainCommand;
  /** When it was given, the last time. */
  readonly givenAt: number;
  /** How often a command was given under its id. */
  readonly tries: number;
} & (
  | { readonly is: 'running'; readonly progress?: CommandProgress }
  /** `result` is what QEMU returned. */
  | { readonly is: 'done'; readonly endedAt: number; readonly result: unknown }
  | { readonly is: 'failed'; readonly endedAt: number; readonly reason: string }
);

/**
 * By id: what a command is for, such as `quit`, or the name of the one undertaking that it belongs to. Under one id one command runs at a
 * time; one that has ended can be given again, and then takes the place of what is known of the last.
 */
export type CommandStates = Readonly<Record<string, CommandState>>;
