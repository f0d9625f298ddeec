/** What people may ask of a running guest, and the commands that do it. */
import type { DomainCommand } from './domain-command.ts';

/** A soft reboot is Ctrl+Alt+Del: QEMU's power button can only ask for an end, and an end ends the instance. */
const COMMANDS = {
  pause: { name: 'stop' },
  unpause: { name: 'cont' },
  reset: { name: 'system_reset' },
  softreboot: { name: 'send-key', keys: ['ctrl', 'alt', 'delete'] },
} as const satisfies Readonly<Record<string, DomainCommand>>;

export type GuestAction = keyof typeof COMMANDS;

export function commandFor(action: GuestAction): DomainCommand {
  return COMMANDS[action];
}
