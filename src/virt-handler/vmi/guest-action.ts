/** What people may ask of a running guest, and the QMP commands that do it. */
type QmpCommand = { readonly command: string; readonly arguments?: Readonly<Record<string, unknown>> };

/** A soft reboot is Ctrl+Alt+Del: QEMU's power button can only ask for an end, and an end ends the instance. */
const COMMANDS = {
  pause: { command: 'stop' },
  unpause: { command: 'cont' },
  reset: { command: 'system_reset' },
  softreboot: {
    command: 'send-key',
    arguments: { keys: ['ctrl', 'alt', 'delete'].map((data) => ({ type: 'qcode', data })) },
  },
} as const satisfies Readonly<Record<string, QmpCommand>>;

export type GuestAction = keyof typeof COMMANDS;

export function isGuestAction(word: string): word is GuestAction {
  return Object.hasOwn(COMMANDS, word);
}

export function commandFor(action: GuestAction): QmpCommand {
  return COMMANDS[action];
}
