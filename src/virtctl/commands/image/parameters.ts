/** Names of images, and what an image is made from. */
import type { Context } from '../../context.ts';
import { text } from '../../parameters.ts';

export const name = { ...text, brief: 'Name of an image', placeholder: 'NAME' } as const;
/** One that is there, so a shell can complete it. */
export const known = {
  ...name,
  async proposeCompletions(this: Context, partial: string): Promise<readonly string[]> {
    return (await import('../../complete/image-names.ts')).imageNames(this, partial);
  },
} as const;
export const A_FILE = 'A raw, qcow2, VMDK or VHDX disk, an OCI layout folder, or an archive (docker save, podman save, skopeo)';
