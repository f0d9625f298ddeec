/** What can be asked of a QEMU, as values: a command with everything it needs, and how one that was given is doing. */

import type { ExecResult } from '../../api/handler/answers.ts';
import type { ExecQuestion } from '../../api/handler/questions.ts';
import type { BackupHead } from '../../api/launcher/backup.ts';
import type { SaveAnswer } from '../../api/launcher/suspension.ts';
import type { Pluggable } from '../../qemu/convert/machine-model.ts';

/** By the names that QMP gives them, or that they have for more than one command. */
export type DomainCommand =
  | { readonly name: 'cont' | 'stop' | 'system_powerdown' | 'system_reset' | 'quit' }
  /** Keys that are pressed together, in QEMU's words for them. */
  | { readonly name: 'send-key'; readonly keys: readonly string[] }
  /** Gets a QEMU that waits for a guest ready to take it. */
  | { readonly name: 'receive'; readonly disks: readonly string[] }
  /** Sends the guest away; `runs` when nobody has paused it. Done means: it is in the other QEMU, stopped, and this one has let go of its disks. */
  | {
      readonly name: 'send';
      readonly disks: readonly string[];
      readonly to: MoveTarget;
      readonly limits: SendLimits;
      readonly runs: boolean;
    }
  /**
   * Calls back a guest that is being sent; with `isKept` one that was sent, too: nobody can hand it over any more. Done means: what was begun is
   * undone. Results in what QEMU says of the guest then.
   */
  | { readonly name: 'call-back'; readonly disks: readonly string[]; readonly runs: boolean; readonly isKept: boolean }
  /** Gives a part of a machine to a QEMU that runs. */
  | { readonly name: 'plug'; readonly part: Pluggable }
  /** Asks the guest to let go of a device. That it has is seen, not answered. */
  | { readonly name: 'unplug'; readonly device: string }
  /** Deletes a block node that no device uses. */
  | { readonly name: 'close'; readonly node: string }
  /** Puts a block node into a CD-ROM drive. */
  | { readonly name: 'insert'; readonly drive: string; readonly node: string }
  /** Takes out what is in a CD-ROM drive, whether the guest has locked it or not. */
  | { readonly name: 'eject'; readonly drive: string }
  /** Makes the disk behind a block node larger, and tells the guest. */
  | { readonly name: 'resize'; readonly node: string; readonly bytes: number }
  /** Stops the guest and writes its memory to the PVC of this Pod. Done means: it is on the disk, and the guest stands still. */
  | { readonly name: 'save'; readonly podUid: string }
  /** Lets a guest run on whose memory was not saved; loads memory that was. */
  | { readonly name: 'release' | 'load' }
  /** Lets a guest run that has the memory of another machine, and makes it one of its own. Done means: it is. */
  | { readonly name: 'become-another'; readonly as: NewIdentity }
  /** Dumps the memory of the guest to the PVC of this Pod; it stands still meanwhile. Done means: all of it is on the disk. */
  | { readonly name: 'dump'; readonly to: DumpTarget }
  /** Ends a dump that is being made. */
  | { readonly name: 'end-dump'; readonly why: string }
  /** Copies the disks of the guest, as they are at one moment, to the PVC of this Pod. Done means: all of it is there. */
  | { readonly name: 'backup'; readonly order: BackupOrder }
  /** Ends a backup that is being made. */
  | { readonly name: 'end-backup'; readonly podUid: string; readonly why: string }
  /** Takes out of QEMU what a backup has left there, but for these checkpoints; `runs` when nobody has paused the guest. */
  | { readonly name: 'clear-backup'; readonly kept: readonly string[]; readonly runs: boolean }
  /** Ends the taking of a guest; it runs here from then on, unless it was paused. */
  | { readonly name: 'arrive'; readonly runs: boolean };

/** What a move may take. */
export type SendLimits = {
  /** Of the guest: with that of the disks that are copied it says how long the move may take. */
  readonly memoryBytes: number;
  readonly msPerGiB: number;
  /** How long it may be without coming nearer to its end. */
  readonly progressMs: number;
  /** How long the guest may stand still at the end, as far as QEMU can tell. */
  readonly downtimeMs: number;
  /** Undefined for as many as there are. */
  readonly bytesPerSecond: number | undefined;
  /** A guest that writes faster than it is copied is slowed down. */
  readonly isSlowedDown: boolean;
  /** When the time is over the guest stands still until the rest of it is copied. */
  readonly mayStandStill: boolean;
};

/** The virt-handler that takes a guest, and for which migration. */
export type MoveTarget = { readonly host: string; readonly port: number; readonly migrationUid: string };

export type Way = {
  /** Resolves when the guest can go on at the other node, as both QEMUs are; `ask` asks ours. */
  agree(ask: (command: string) => Promise<unknown>): Promise<void>;
  /** Connects for the memory, and for what was printed, so that a guest which stands still does not wait for it; resolves when the other node has taken that for the memory. */
  connectAhead(): Promise<void>;
  /** Resolves when the other node has what the guest printed so far. */
  sendPrinted(): Promise<void>;
  close(): void;
};
/** Resolves when QEMU can connect; what it sends goes to that node until closed. */
export type OpenWay = (to: MoveTarget) => Promise<Way>;

/** What is told of a guest whose memory is written. */
export type StoreTarget = { readonly podUid: string; readonly qemu: string; readonly accelerator: string };
export type Store = { readonly answer: Promise<SaveAnswer>; close(): void };
/** Resolves when QEMU can connect; what it sends goes to the Pod until closed. */
export type OpenStore = (to: StoreTarget) => Promise<Store>;

/** Who a guest is to be; its cards by their devices, with their addresses. */
export type NewIdentity = { readonly hostname: string; readonly cards: readonly { readonly device: string; readonly mac: string }[] };
/** Runs a program in the guest, through its agent. */
export type RunInGuest = (question: ExecQuestion) => Promise<ExecResult>;

/** Who writes the dump of a guest, under which name, and how large it can get. */
export type DumpTarget = { readonly podUid: string; readonly fileName: string; readonly bytes: number };
export type Dump = {
  /** Resolves when QEMU has written and the Pod was sent everything; rejects when the Pod refuses, or the dump is ended. */
  sent(): Promise<void>;
  /** Says that it is whole; resolves with its bytes when they are on the disk. */
  finish(): Promise<number>;
  /** QEMU lets the guest run on when nobody reads what it writes. */
  close(): void;
};
export type DumpWay = {
  /** Resolves when the Pod has room for it and QEMU can write. */
  open(to: DumpTarget): Promise<Dump>;
  /** Ends the one that is open. */
  end(why: string): void;
};

/** What a backup is made of. */
export type BackupOrder = {
  readonly podUid: string;
  /** Where it is to be on the PVC. */
  readonly folder: string;
  readonly disks: readonly { readonly volume: string; readonly device: string; readonly node: string }[];
  /** From here on changed blocks are remembered under this name; undefined when nobody asked for that. */
  readonly checkpoint: string | undefined;
  /** What has changed since is copied, if all disks know this checkpoint; else everything. */
  readonly base: string | undefined;
  /** Checkpoints that are needed whatever becomes of it. */
  readonly kept: readonly string[];
  /** The agent is asked to freeze the file systems for the moment. */
  readonly isQuiesced: boolean;
  /** Nobody has paused the guest. */
  readonly runs: boolean;
};
export type OpenBackup = {
  /** Where QEMU connects, in its folder. */
  readonly socket: string;
  /** Rejects when the Pod refuses or goes, or the backup is ended. */
  readonly failed: Promise<never>;
  /** Says that it is whole; resolves with its bytes when they have their names. */
  finish(): Promise<number>;
  /** What is not whole then goes. */
  close(): void;
};
export type BackupWay = {
  /** Resolves when the Pod has made the files and QEMU can connect. */
  open(podUid: string, head: BackupHead): Promise<OpenBackup>;
  /** Ends the one that goes to this Pod: it may not be open yet. */
  end(podUid: string, why: string): void;
};
/** Through the agent of the guest; a freeze ends by itself after a while. */
export type Quiesce = { freeze(forMs: number): Promise<void>; thaw(): Promise<void> };

/** What there is to know of a guest that was sent: the bytes are those of its disks and of its memory. */
export type Sent = {
  readonly stage: 'Disks' | 'Memory';
  readonly bytesDone: number;
  readonly bytesLeft: number;
  readonly bytesPerSecond: number;
  readonly dirtyBytesPerSecond?: number | undefined;
  readonly iterations?: number | undefined;
  readonly expectedDowntimeMs?: number | undefined;
};
/** How far a guest is that is being sent: the bytes are those of this stage. */
export type SendProgress = Sent & {
  /** It stands still because its time was over. */
  readonly isStandingStill: boolean;
};
/** Of a command that takes long. */
export type CommandProgress = SendProgress;

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
