/** What kind of waiting follows from something that was thrown. */
import { messageOf } from '../../base/errors.ts';
import { ImageError } from './bring-image.ts';
import type { Setback } from './container-record.ts';
import { SandboxError } from './containers/sandbox.ts';
import type { ImageSource } from './image-source.ts';

/** The image of a program of ours cannot come: images of the store are for volumes and native containers. */
export function setbackFrom(error: unknown, otherwise: 'config' | 'volume', images: ImageSource): Omit<Setback, 'failures' | 'atMs'> {
  if (error instanceof SandboxError) return { kind: 'sandbox', message: messageOf(error) };
  if (!(error instanceof ImageError)) return { kind: otherwise, message: messageOf(error) };
  const { image, message, reason } = error;
  const isMissing = otherwise === 'volume' && reason !== 'InvalidImageName' && !images.resolve(image);
  return { kind: 'image', image, message, isMissing, ...(reason && { reason }) };
}
