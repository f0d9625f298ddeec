/**
 * Images that are not pulled but are part of this program: a folder of programs that is put first on PATH.
 * Their containers are host processes, so only the programs in that folder can be started through them.
 */
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { containerIn, type Pod } from '../../api/core/pod.ts';
import { ApiError } from '../../base/errors.ts';
import { isImageReference, repositoryOf } from '../../base/image-reference.ts';

export type BuiltInImage = {
  /** The folder with the programs. */
  readonly path: string;
  /** Those that may be started; the one named like the image when left out. */
  readonly programs?: readonly string[];
  /** What is started when the Pod names no command; a Pod of this image must name one when left out. */
  readonly entrypoint?: string;
  /** What asks the container to end; SIGTERM when left out. */
  readonly stopSignal?: NodeJS.Signals;
  /** Its programs are started as root, when we are root, and become CONTAINER_RUN_AS_USER themselves. Then a Pod may set harmless variables only. */
  readonly dropsPrivileges?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** Why this Pod may not use the image, if it may not: it is asked before every start. */
  readonly whyNotFor?: (pod: Pod, signal: AbortSignal) => Promise<string | undefined>;
};
export type BuiltInImages = Readonly<Record<string, BuiltInImage>>;

/** The built-in image a reference names, whatever its tag; throws NotFound with the reason for people. */
export function builtInImageOf(images: BuiltInImages, reference: string): BuiltInImage {
  const found = findBuiltIn(images, reference);
  if (found) return found;
  throw new ApiError('NotFound', `image "${reference}" is not built in`);
}

/** Undefined for every other image. */
export function findBuiltIn(images: BuiltInImages, reference: string): BuiltInImage | undefined {
  if (!isImageReference(reference)) return undefined;
  const repository = repositoryOf(reference);
  const found = Object.entries(images).find(([name]) => repositoryOf(name) === repository)?.[1];
  return found && { programs: [basename(repository)], ...found };
}

/** Throws unless the program is one of the image's own; a path or a foreign name would be any program of the host. */
export function checkProgram(image: BuiltInImage, program: string): void {
  const isPlain = /^[\w.-]+$/.test(program) && program !== '.' && program !== '..';
  const isOwn = isPlain && image.programs?.includes(program) && existsSync(join(image.path, program));
  if (!isOwn) throw new ApiError('Invalid', `${JSON.stringify(program)} is not a program of this built-in image`);
}

/** Variables that a Pod may set for our own programs, which are processes of the host: none that change how programs are loaded or found. */
const HARMLESS = /^(?:KUBEVIRT|VIRT|POD|VMI|KUBERNETES)_[A-Z0-9_]+$|^NODE_NAME$/;

/** Throws when a Pod sets a variable that must not reach a program of ours: it would run code of the Pod's author as us. */
export function checkVariables(names: readonly string[]): void {
  const refused = names.filter((name) => !HARMLESS.test(name));
  if (refused.length > 0) throw new ApiError('Invalid', `a Pod may not set ${refused.join(', ')} for this built-in image`);
}

/** Some images of ours do what their Pod says; those are for Pods that a component of ours has made. Throws Forbidden for others. */
export async function assertMayUse({ builtInImages, signal }: MayUseOptions, pod: Pod, name: string): Promise<void> {
  const image = findBuiltIn(builtInImages, containerIn(pod, name)?.image ?? '');
  const why = await image?.whyNotFor?.(pod, signal);
  if (why !== undefined) throw new ApiError('Forbidden', why);
}

type MayUseOptions = { readonly builtInImages: BuiltInImages; readonly signal: AbortSignal };
