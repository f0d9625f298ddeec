/** A machine as QEMU's arguments: JSON where QEMU takes it, its key=value syntax elsewhere. */
import type { Board, Chardev, Machine, Part } from './machine-model.ts';
import { optionValue } from './option-text.ts';
import { deviceProperties, namedProperties } from './properties.ts';

const MEMORY_ID = 'memory0';

/** The arguments, without the program's name, that start this machine. */
export function renderArguments({ board, isStartedPaused, isIncoming, parts }: Machine): string[] {
  return [
    ...['-nodefaults', '-no-user-config'],
    // How a guest ended stays visible over QMP until virt-handler has read it.
    ...['-no-shutdown'],
    ...['-sandbox', 'on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny'],
    ...renderBoard(board),
    // Only the disks that have a boot index, in that order.
    ...['-boot', 'strict=on'],
    // Where a guest is received, whoever hands it over says when it runs here.
    ...(isStartedPaused || isIncoming ? ['-S'] : []),
    ...(isIncoming ? ['-incoming', 'defer'] : []),
    ...parts.flatMap(renderPart),
  ];
}

/** The arguments for the board itself. */
export function renderBoard(board: Board): string[] {
  const { accelerator, processor, clock, boot, uuid, serial } = board;
  const switches = Object.entries(board.switches).map(([name, isOn]) => `${name}=${isOn ? 'on' : 'off'}`);
  const rtc = [...(clock.track ? [`clock=${clock.track}`] : []), ...(clock.isCatchingUp ? ['driftfix=slew'] : [])];
  const system = { ...board.system, ...(serial && { serial }) };
  return [
    ...(board.isMemoryShared ? ['-object', JSON.stringify(sharedMemory(board.memoryKib))] : []),
    ...['-machine', [board.type, ...switches, ...(board.isMemoryShared ? [`memory-backend=${MEMORY_ID}`] : [])].join(',')],
    ...['-accel', accelerator.kind === 'kvm' ? 'kvm' : `tcg,tb-size=${accelerator.cacheMib}`],
    ...['-cpu', [processor.model, ...processor.flags].join(',')],
    ...['-smp', keyValues(board.topology)],
    ...['-m', `size=${board.memoryKib}k`],
    ...(clock.base || rtc.length > 0 ? ['-rtc', [`base=${clock.base ?? 'utc'}`, ...rtc].join(',')] : []),
    ...(clock.kvmPitTicks ? ['-global', `kvm-pit.lost_tick_policy=${clock.kvmPitTicks}`] : []),
    ...(boot ? ['-kernel', boot.kernel] : []),
    ...(boot?.initrd ? ['-initrd', boot.initrd] : []),
    ...(boot?.args ? ['-append', boot.args] : []),
    ...['-name', keyValues({ guest: board.name })],
    ...(uuid ? ['-uuid', uuid] : []),
    ...['-smbios', `type=1,${keyValues(system)}`],
    ...(Object.keys(board.chassis).length > 0 ? ['-smbios', `type=3,${keyValues(board.chassis)}`] : []),
  ];
}

/** Without a file: it is gone with QEMU, whoever else has it open. */
function sharedMemory(kib: number): object {
  return { 'qom-type': 'memory-backend-memfd', id: MEMORY_ID, size: kib * 1024, share: true };
}

function renderPart(part: Part): readonly string[] {
  switch (part.part) {
    case 'device':
      return ['-device', JSON.stringify(deviceProperties(part))];
    case 'blockdev':
      return ['-blockdev', JSON.stringify(part.node)];
    case 'netdev':
      return ['-netdev', JSON.stringify(namedProperties(part))];
    case 'object':
      return ['-object', JSON.stringify(namedProperties(part))];
    case 'audiodev':
      return ['-audiodev', JSON.stringify({ driver: part.driver, id: part.id })];
    case 'chardev':
      return ['-chardev', chardev(part)];
    case 'setting':
      return part.words;
  }
}

/** QEMU takes no JSON here. */
function chardev({ id, socket, log, isClient }: Chardev): string {
  if (isClient) return `socket,${keyValues({ id, path: socket })}`;
  const listening = keyValues({ id, path: socket, server: 'on', wait: 'off' });
  return `socket,${listening}${log === undefined ? '' : `,${keyValues({ logfile: log, logappend: 'on' })}`}`;
}

function keyValues(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([key, value]) => `${key}=${optionValue(String(value))}`)
    .join(',');
}
