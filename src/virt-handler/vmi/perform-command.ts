/** The way of each command to a guest: what QMP is told, and what its answer means. */
import { type QmpClient, QmpError, QmpTimeout } from '../../qemu/qmp/client.ts';
import type { CommandProgress, DomainCommand } from './domain-command.ts';

export type Performer = {
  readonly qmp: Pick<QmpClient, 'execute'>;
  /** For a command that takes long: shows in the domain how far it is. */
  readonly report: (progress: CommandProgress) => void;
};

/** Resolves with what QEMU returned. */
export async function performCommand({ qmp }: Performer, command: DomainCommand): Promise<unknown> {
  switch (command.name) {
    case 'cont':
    case 'stop':
    case 'system_powerdown':
    case 'system_reset':
      return qmp.execute(command.name);
    case 'send-key':
      return qmp.execute(command.name, { keys: command.keys.map((data) => ({ type: 'qcode', data })) });
    case 'quit':
      try {
        return await qmp.execute(command.name);
      } catch (error) {
        // QEMU may be gone before it could say that it goes.
        if (error instanceof QmpError || error instanceof QmpTimeout) throw error;
        return undefined;
      }
  }
}
