/** Where the kubelet has images from. */
import type { ImageRoot, RootOptions } from '../../images/root-filesystem.ts';

/** The part of an image store that the kubelet needs. */
export type ImageSource = {
  resolve(reference: string): { readonly digest: string; readonly isPulled?: boolean } | undefined;
  /** A folder with the image's files; throws NotFound when the image is not there. */
  unpacked(reference: string, signal?: AbortSignal): Promise<string>;
  /** Its root filesystem for containers; a source without it has none. */
  root?(reference: string, options: RootOptions & { readonly signal?: AbortSignal }): Promise<ImageRoot>;
};
