/** A guest of one boot sector in a real QEMU: says `!`, echoes its serial port, powers off at `q`, panics at `p`, prints for ever at `f`, writes to its memory for ever at `w`. */
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
  [0x74, 0x0f], //       19  je 36
  [0x3c, 0x70], //       21  cmp al, 'p'
  [0x74, 0x14], //       23  je 45
  [0x3c, 0x66], //       25  cmp al, 'f'
  [0x74, 0x18], //       27  je 53
  [0x3c, 0x77], //       29  cmp al, 'w'
  [0x74, 0x17], //       31  je 56
  [0xee], //             33  out dx, al
  [0xeb, 0xe2], //       34  jmp 6
  [0xba, 0x04, 0x06], // 36  mov dx, 0x604
  [0xb8, 0x00, 0x20], // 39  mov ax, 0x2000
  [0xef], //             42  out dx, ax        ; power off
  [0xeb, 0xfe], //       43  jmp 43
  [0xba, 0x05, 0x05], // 45  mov dx, 0x505
  [0xb0, 0x01], //       48  mov al, 1
  [0xee], //             50  out dx, al        ; panicked
  [0xeb, 0xfe], //       51  jmp 51
  [0xee], //             53  out dx, al
  [0xeb, 0xfd], //       54  jmp 53
  [0xbb, 0x00, 0x10], // 56  mov bx, 0x1000
  [0x8e, 0xc3], //       59  mov es, bx
  [0x31, 0xff], //       61  xor di, di
  [0x26, 0xff, 0x05], // 63  inc word [es:di]  ; one of each page from 64 KiB to 576 KiB
  [0x81, 0xc7, 0x00, 0x10], // 66  add di, 0x1000
  [0x75, 0xf7], //       70  jnz 63
  [0x81, 0xc3, 0x00, 0x10], // 72  add bx, 0x1000
  [0x81, 0xfb, 0x00, 0x90], // 76  cmp bx, 0x9000
  [0x75, 0xe9], //       80  jne 59
  [0xeb, 0xe4], //       82  jmp 56
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
