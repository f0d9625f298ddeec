/** A picture of the screen of a guest, as a PNG file or on standard output. */
import { writeFileSync } from 'node:fs';
import { subresourcePath } from '../../../api/kubevirt/subresource-path.ts';
import { UserError } from '../../../base/errors.ts';
import type { ClusterDeps, ConnectionFlags } from '../../deps.ts';

export type ScreenshotFlags = ConnectionFlags & { readonly file?: string; readonly moveCursor: boolean };

export async function saveScreenshot({ client, namespace, stdout }: ClusterDeps, flags: ScreenshotFlags, name: string): Promise<void> {
  if (flags.file === undefined) {
    throw new UserError('USAGE', 'virtctl vnc screenshot needs --file', {
      why: 'the picture has to go somewhere',
      fix: `virtctl vnc screenshot ${name} --file ${name}.png, or --file - for the standard output`,
      exitCode: 2,
    });
  }
  const path = subresourcePath({ resource: 'virtualmachineinstances', namespace, name }, 'vnc/screenshot', {
    moveCursor: flags.moveCursor,
  });
  const response = await client.request(path);
  const picture = Buffer.from(await response.arrayBuffer());
  if (flags.file === '-') await new Promise<void>((resolve) => stdout.write(picture, () => resolve()));
  else writeFileSync(flags.file, picture);
}
