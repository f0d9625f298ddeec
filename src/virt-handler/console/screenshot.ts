/** A picture of the screen of a guest: QEMU writes it into its own folder, we read it and take it away. */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiError, messageOf } from '../../base/errors.ts';
import { openPlainFile } from './serial-log.ts';

export type ScreenshotOptions = {
  /** QEMU's working folder. */
  readonly folder: string;
  readonly execute: (command: string, args: object) => Promise<unknown>;
  /** Wakes a screen that has gone dark. */
  readonly movesCursor: boolean;
};

/** An uncompressed screen of 4096 x 4096 points. The folder belongs to the guest's process: anything might lie there. */
const MAX_BYTES = 64 * 1024 * 1024;
/** There and back: what is under the pointer stays. */
const MOVES = [1, -1].map((value) => ({ events: [{ type: 'rel', data: { axis: 'x', value } }] }));

/** The picture as a PNG. */
export async function takeScreenshot({ folder, execute, movesCursor }: ScreenshotOptions): Promise<Buffer> {
  // Not every guest has a mouse; then there is nothing to move.
  if (movesCursor) for (const move of MOVES) await execute('input-send-event', move).catch(() => {});
  const name = `screen-${randomBytes(8).toString('hex')}.png`;
  const path = join(folder, name);
  try {
    await execute('screendump', { filename: name, format: 'png' });
    return await readPicture(path);
  } catch (error) {
    throw error instanceof ApiError ? error : new ApiError('InternalError', `no screenshot: ${messageOf(error)}`, { cause: error });
  } finally {
    await rm(path, { force: true });
  }
}

async function readPicture(path: string): Promise<Buffer> {
  const file = await openPlainFile(path, constants.O_RDONLY);
  if (!file) throw new ApiError('InternalError', 'QEMU did not write the picture');
  try {
    const { size } = await file.stat();
    if (size > MAX_BYTES) throw new ApiError('InternalError', `the picture has ${size} bytes, at most ${MAX_BYTES} are read`);
    const { bytesRead, buffer } = await file.read(Buffer.alloc(size), 0, size, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
