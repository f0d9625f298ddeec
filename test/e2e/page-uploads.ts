/** A disk dropped into the page of images: sent, interrupted, gone on with after a reload, compared, and another one ended. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { accessibilityFaults, takePicture } from './browser.ts';
import type { EmbeddedCluster } from './harness.ts';

const DISK_BYTES = 6 * 2 ** 20;
const DOOR = /persistentvolumeclaims\/dropped\/upload$/;

/** On the page of images, before and after; `fitsPhone` looks at it as on a small screen. */
export async function uploadByDrop(page: Page, cluster: EmbeddedCluster, fitsPhone: (name: string) => Promise<void>): Promise<void> {
  const dialog = page.getByRole('dialog');
  const row = page.getByRole('row', { name: /dropped/ });
  let pieces = 0;
  await page.route(DOOR, (route) => (route.request().method() === 'PUT' && ++pieces > 3 ? route.abort() : route.continue())); // the network goes
  await drop(page, 'dropped.img');
  await dialog.getByText('virtctl image-upload dv dropped --size 6Mi --force-bind --image-path dropped.img').waitFor();
  assert.deepEqual(await accessibilityFaults(page), [], 'upload');
  await takePicture(page, 'dark-upload');
  await dialog.getByRole('button', { name: 'Upload' }).click();
  await row.getByText(/Sending: 29 %/).waitFor(); // 256 KiB, 512 KiB and 1 MiB
  await page.getByRole('link', { name: 'Upload of dropped: 29 %' }).waitFor();
  await page.getByRole('button', { name: 'Pause dropped' }).click();
  await row.getByText('Paused: 29 % · 2 of 6 MiB').waitFor();
  assert.deepEqual(await accessibilityFaults(page), [], 'paused');
  await takePicture(page, 'dark-paused');
  await fitsPhone('paused');

  await page.unroute(DOOR);
  await page.reload();
  await row.getByText('Waits for its file: drop it here again').waitFor();
  const ranges: string[] = [];
  page.on('request', (request) => DOOR.test(request.url()) && ranges.push(request.headers()['content-range'] ?? ''));
  await drop(page, 'dropped.img');
  await dialog.getByText('what has arrived is not sent again').waitFor();
  await dialog.getByRole('button', { name: 'Continue' }).click();
  await row.getByText('Succeeded').waitFor();
  assert.match(ranges.find((range) => range !== '') ?? '', /^bytes 1835008-/);
  const disk = readFileSync(join(await cluster.folderOf('dropped'), 'disk.img')).subarray(0, DISK_BYTES);
  const sent = Uint8Array.from({ length: DISK_BYTES }, (_, index) => index % 251);
  assert.equal(digestOf(disk), digestOf(sent));

  await page.route(/persistentvolumeclaims\/ended\/upload$/, (route) => route.abort());
  await drop(page, 'ended.img');
  await dialog.getByRole('button', { name: 'Upload' }).click();
  await page.getByRole('button', { name: 'Cancel ended' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('row', { name: /ended/ }).waitFor({ state: 'detached' });
  await cluster.must('kubectl', ['delete', 'dv', 'dropped']);
}

/** A file with something in every byte, let go over the page. */
async function drop(page: Page, name: string): Promise<void> {
  const data = await page.evaluateHandle(
    ({ name, bytes }) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([Uint8Array.from({ length: bytes }, (_, index) => index % 251)], name));
      return transfer;
    },
    { name, bytes: DISK_BYTES },
  );
  for (const type of ['dragover', 'drop']) await page.getByRole('main').dispatchEvent(type, { dataTransfer: data });
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
