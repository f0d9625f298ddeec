/** How the outside talks to QEMU and its guest: the control socket, the serial console, the screen, the guest agent. Unix sockets only, in QEMU's folder. */
import type { VmiSpec } from '../../api/kubevirt/vmi-spec-schema.ts';
import { AGENT_SOCKET, QMP_SOCKET, SERIAL_LOG, SERIAL_SOCKET, VNC_SOCKET } from '../../api/launcher/files.ts';
import { AGENT_PORT } from './input.ts';
import type { Part } from './machine-model.ts';
import { setting } from './option-text.ts';
import { card, type RootBus } from './root-bus.ts';

const CARDS = {
  vga: { driver: 'VGA', properties: { vgamem_mb: 16 } },
  virtio: { driver: 'virtio-vga', properties: {} },
  bochs: { driver: 'bochs-display', properties: {} },
  cirrus: { driver: 'cirrus-vga', properties: {} },
} as const;

/** QMP, serial console, VNC and guest agent. */
export function consoleParts({ domain }: VmiSpec, rootBus: RootBus): Part[] {
  const { autoattachSerialConsole, logSerialConsole, video } = domain.devices;
  return [
    ...[{ part: 'chardev', id: 'qmp', socket: QMP_SOCKET } as const, setting('-mon', 'chardev=qmp,mode=control')],
    ...(autoattachSerialConsole === false ? [] : serial(logSerialConsole !== false)),
    // Without this QEMU may open a window, or a VNC port that everybody on the host can reach.
    setting('-display', 'none'),
    ...screen(video?.type ?? 'vga', rootBus),
    ...agentChannel(rootBus),
  ];
}

/** The log takes what is printed while nobody is connected, without one it is lost; a guest must never wait for a reader. */
function serial(isLogged: boolean): Part[] {
  return [
    { part: 'chardev', id: 'serial0', socket: SERIAL_SOCKET, ...(isLogged && { log: SERIAL_LOG }) },
    setting('-serial', 'chardev:serial0'),
  ];
}

/** Who may look beside whom is decided by virt-handler, not by what a viewer says when it connects. */
function screen(type: keyof typeof CARDS, rootBus: RootBus): Part[] {
  const video = card(rootBus, 'video0', CARDS[type].driver, CARDS[type].properties);
  return video.length === 0 ? [] : [setting('-vnc', `unix:${VNC_SOCKET},share=force-shared`), ...video];
}

/** A port that costs nothing while no agent opens it. */
function agentChannel(rootBus: RootBus): Part[] {
  return [
    { part: 'chardev', id: AGENT_PORT, socket: AGENT_SOCKET },
    ...card(rootBus, 'channels', 'virtio-serial-pci'),
    {
      ...{ part: 'device', id: AGENT_PORT, driver: 'virtserialport', place: { kind: 'channel', bus: 'channels.0', number: 1 } },
      properties: { chardev: AGENT_PORT, name: 'org.qemu.guest_agent.0' },
    },
  ];
}
