/** The way of each command to a guest: what QMP is told, and what its answer means. */
import type { Clock } from '../../base/clock.ts';
import { type QmpClient, QmpError, QmpTimeout } from '../../qemu/qmp/client.ts';
import type { OpenWay } from '../migration/open-way.ts';
import { letArrive, receiveGuest } from '../migration/receive-guest.ts';
import { callBack, sendGuest } from '../migration/send-guest.ts';
import type { CommandProgress, DomainCommand } from './domain-command.ts';

export type Performer = {
  readonly qmp: Pick<QmpClient, 'execute'>;
  readonly clock: Clock;
  /** Opens the way to the node that a guest is sent to. */
  readonly openWay: OpenWay;
  /** For a command that takes long: shows in the domain how far it is. */
  readonly report: (progress: CommandProgress) => void;
};

/** Resolves with what QEMU returned. */
export async function performCommand(performer: Performer, command: DomainCommand): Promise<unknown> {
  const { qmp } = performer;
  switch (command.name) {
    case 'cont':
    case 'stop':
    case 'system_powerdown':
    case 'system_reset':
      return qmp.execute(command.name);
    case 'send-key':
      return qmp.execute(command.name, { keys: command.keys.map((data) => ({ type: 'qcode', data })) });
    case 'receive':
      return receiveGuest(performer, command);
    case 'send':
      return sendGuest(performer, command);
    case 'call-back':
      return callBack(performer, command);
    case 'arrive':
      return letArrive(performer, command);
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
