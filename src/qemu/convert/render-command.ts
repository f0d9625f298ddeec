/** A part of a machine as a command over QMP: what is plugged in while a guest runs is the same as what it could have started with. */
import type { Chardev, Pluggable } from './machine-model.ts';
import { deviceProperties, namedProperties } from './properties.ts';

export type QmpCommand = { readonly execute: string; readonly arguments: Readonly<Record<string, unknown>> };

/** The command that gives this part to a QEMU that runs. */
export function renderCommand(part: Pluggable): QmpCommand {
  switch (part.part) {
    case 'device':
      return { execute: 'device_add', arguments: deviceProperties(part) };
    case 'blockdev':
      return { execute: 'blockdev-add', arguments: part.node };
    case 'netdev':
      return { execute: 'netdev_add', arguments: namedProperties(part) };
    case 'object':
      return { execute: 'object-add', arguments: namedProperties(part) };
    case 'chardev':
      return { execute: 'chardev-add', arguments: chardev(part) };
  }
}

function chardev({ id, socket, log }: Chardev): QmpCommand['arguments'] {
  const listening = { addr: { type: 'unix', data: { path: socket } }, server: true, wait: false };
  return { id, backend: { type: 'socket', data: { ...listening, ...(log !== undefined && { logfile: log, logappend: true }) } } };
}
