/** A guest of one boot sector in a real QEMU: says `!`, echoes its serial port, powers off at `q`, panics at `p`, writes for ever at `f`. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { podPath, podVolumePath } from '../api/core/pod-folder-layout.ts';
import { SERIAL_LOG, SERIAL_SOCKET } from '../api/launcher/files.ts';
import { PUBLIC_VOLUME } from '../api/launcher/mounts.ts';
import { connectUnixSocket } from '../qemu/qmp/connect-socket.ts';
import { startQemu, type TestQemu, temporaryFolder, waitUntil } from '../qemu/qmp/qemu.testing.ts';

/** Real mode; COM1 is at 0x3f8, the power-off port of q35 at 0x604, pvpanic at 0x505. */
const BOOT_SECTOR = [
  [0xba, 0xf8, 0x03], //  0  mov dx, 0x3f8
  [0xb0, 0x21], //        3  mov al, '!'
  [0xee], //              5  out dx, al        ; says that it runs
  [0xba, 0xfd, 0x03], //  6  mov dx, 0x3fd
  [0xec], //              9  in al, dx
  [0xa8, 0x01], //       10  test al, 1
  [0x74, 0xfb], //       12  jz 9              ; nothing typed
  [0xb2, 0xf8], //       14  mov dl, 0xf8
  [0xec], //             16  in al, dx
  [0x3c, 0x71], //       17  cmp al, 'q'
  [0x74, 0x0b], //       19  je 32
  [0x3c, 0x70], //       21  cmp al, 'p'
  [0x74, 0x10], //       23  je 41
  [0x3c, 0x66], //       25  cmp al, 'f'
  [0x74, 0x14], //       27  je 49
  [0xee], //             29  out dx, al
  [0xeb, 0xe6], //       30  jmp 6
  [0xba, 0x04, 0x06], // 32  mov dx, 0x604
  [0xb8, 0x00, 0x20], // 35  mov ax, 0x2000
  [0xef], //             38  out dx, ax        ; power off
  [0xeb, 0xfe], //       39  jmp 39
  [0xba, 0x05, 0x05], // 41  mov dx, 0x505
  [0xb0, 0x01], //       44  mov al, 1
  [0xee], //             46  out dx, al        ; panicked
  [0xeb, 0xfe], //       47  jmp 47
  [0xee], //             49  out dx, al
  [0xeb, 0xfd], //       50  jmp 49
].flat();

/** Where a kubelet keeps the sockets of the Pod with this uid. */
export function publicFolder(kubeletRoot: string, podUid: string): string {
  return join(kubeletRoot, podPath(podUid), podVolumePath('empty-dir', PUBLIC_VOLUME.name));
}

export type TestGuestOptions = {
  readonly folder?: string;
  readonly isPaused?: boolean;
  /** A QEMU that waits for the guest to be sent to it. */
  readonly isIncoming?: boolean;
  readonly args?: readonly string[];
};

/** Starts the guest in `folder`, or in one of its own, and waits until it reads what is typed unless it is not to start yet. */
export async function startGuest(
  t: TestContext,
  { folder, isPaused, isIncoming = false, args: further = [] }: TestGuestOptions = {},
): Promise<TestQemu> {
  const home = folder ?? (await temporaryFolder(t));
  const sector = Buffer.alloc(1024 * 1024); // the firmware takes no disk of a single sector
  Buffer.from(BOOT_SECTOR).copy(sector);
  sector.writeUInt16LE(0xaa55, 510);
  await writeFile(join(home, 'boot.img'), sector);
  const disk = ['-drive', 'if=none,id=disk,file=boot.img,format=raw', '-device', 'ide-hd,drive=disk'];
  const socket = `socket,id=serial0,path=${SERIAL_SOCKET},server=on,wait=off,logfile=${SERIAL_LOG},logappend=on`;
  const serial = ['-chardev', socket, '-serial', 'chardev:serial0'];
  const args = [...disk, ...serial, '-device', 'pvpanic', ...(isIncoming ? ['-incoming', 'defer'] : []), ...further];
  const qemu = await startQemu(t, { machine: 'q35', isPaused, folder: home, args });
  const hasBooted = async () => (await readFile(join(home, SERIAL_LOG), 'utf8').catch(() => '')).includes('!');
  if (!isPaused && !isIncoming) await waitUntil(hasBooted, 'the guest boots');
  return qemu;
}

/**
 * Types into a guest that has no virt-handler; with one, that is the only client of the console. The connection stays until the
 * test ends: QEMU forgets what it has not read yet when its client leaves.
 */
export async function typeInto(t: TestContext, { folder, key }: { folder: string; key: string }): Promise<void> {
  const socket = await connectUnixSocket(join(folder, SERIAL_SOCKET));
  t.after(() => socket.destroy());
  socket.on('error', () => {}).resume();
  socket.write(key);
}
