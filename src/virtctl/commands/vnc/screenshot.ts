/** A picture of the screen of a guest, as a PNG file or on standard output. */
import { writeFileSync } from 'node:fs';
import { UserError } from '../../../base/errors.ts';
import type { ClusterDeps, ConnectionFlags } from '../../deps.ts';

export type ScreenshotFlags = ConnectionFlags & { readonly file?: string; readonly moveCursor: boolean };

export async function takeScreenshot({ client, namespace, stdout }: ClusterDeps, flags: ScreenshotFlags, name: string): Promise<void> {
  if (flags.file === undefined) {
    throw new UserError('USAGE', 'virtctl vnc screenshot needs --file', {
      why: 'the picture has to go somewhere',
      fix: `virtctl vnc screenshot ${name} --file ${name}.png, or --file - for the standard output`,
      exitCode: 2,
    });
  }
  const path = `/apis/subresources.kubevirt.io/v1/namespaces/${encodeURIComponent(namespace)}/virtualmachineinstances/${encodeURIComponent(name)}/vnc/screenshot`;
  const response = await client.request(`${path}?moveCursor=${flags.moveCursor}`);
  const picture = Buffer.from(await response.arrayBuffer());
  if (flags.file === '-') await new Promise<void>((resolve) => stdout.write(picture, () => resolve()));
  else writeFileSync(flags.file, picture);
}
