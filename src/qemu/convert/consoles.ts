/** How the outside talks to QEMU and its guest: the control socket, the serial console, the screen, the guest agent. Unix sockets only, in QEMU's folder. */
import type { VmiSpec } from '../../api/kubevirt/vmi-spec-schema.ts';
import { AGENT_SOCKET, QMP_SOCKET, SERIAL_LOG, SERIAL_SOCKET, VNC_SOCKET } from '../../api/launcher/files.ts';
import { AGENT_PORT } from './input.ts';
import { jsonOption } from './option-text.ts';

const CARDS = {
  vga: { driver: 'VGA', options: { vgamem_mb: 16 } },
  virtio: { driver: 'virtio-vga', options: {} },
  bochs: { driver: 'bochs-display', options: {} },
  cirrus: { driver: 'cirrus-vga', options: {} },
} as const;

/** The arguments for QMP, serial console, VNC and guest agent. */
export function consoleArguments({ domain }: VmiSpec): string[] {
  const { autoattachSerialConsole, autoattachGraphicsDevice, video } = domain.devices;
  return [
    ...['-chardev', `socket,id=qmp,path=${QMP_SOCKET},server=on,wait=off`, '-mon', 'chardev=qmp,mode=control'],
    ...(autoattachSerialConsole === false ? [] : serial()),
    // Without this QEMU may open a window, or a VNC port that everybody on the host can reach.
    ...['-display', 'none'],
    ...(autoattachGraphicsDevice === false ? [] : screen(video?.type)),
    ...agentChannel(),
  ];
}

/** The log takes what is printed while nobody is connected; a guest must never wait for a reader. */
function serial(): string[] {
  const chardev = `socket,id=serial0,path=${SERIAL_SOCKET},server=on,wait=off,logfile=${SERIAL_LOG},logappend=on`;
  return ['-chardev', chardev, '-serial', 'chardev:serial0'];
}

/** Who may look beside whom is decided by virt-handler, not by what a viewer says when it connects. */
function screen(card: keyof typeof CARDS = 'vga'): string[] {
  return [
    '-vnc',
    `unix:${VNC_SOCKET},share=force-shared`,
    ...jsonOption('-device', { driver: CARDS[card].driver, id: 'video0', ...CARDS[card].options }),
  ];
}

/** A port that costs nothing while no agent opens it (9.7). */
function agentChannel(): string[] {
  return [
    ...['-chardev', `socket,id=${AGENT_PORT},path=${AGENT_SOCKET},server=on,wait=off`],
    ...jsonOption('-device', { driver: 'virtio-serial-pci', id: 'channels' }),
    ...jsonOption('-device', {
      ...{ driver: 'virtserialport', id: AGENT_PORT, bus: 'channels.0', nr: 1 },
      ...{ chardev: AGENT_PORT, name: 'org.qemu.guest_agent.0' },
    }),
  ];
}
