/** The way of each command to a guest: what QMP is told, and what its answer means. */
import { type QmpClient, QmpError, QmpTimeout } from '../../qemu/qmp/client.ts';
import type { DomainCommand } from './domain-command.ts';

/** Resolves with what QEMU returned. */
export async function performCommand(qmp: Pick<QmpClient, 'execute'>, command: DomainCommand): Promise<unknown> {
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
