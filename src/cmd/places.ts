/**
 * Where those parts of the product are that are not code. This is how a clone has them; in a package tools/release/places-of-package.ts
 * stands in place of this file.
 */
import { join, resolve } from 'node:path';

export type ProductPlaces = {
  /** The folder with virtctl, virt-launcher and vmctl. */
  readonly programs: string;
  /** The program that is the embedded cluster. */
  readonly embeddedProgram: string;
  /** Manifests of an installation. */
  readonly deploy: string;
  /** Manifests that only the embedded cluster has. */
  readonly embeddedManifests: string;
  readonly examples: string;
  /** The web page, as it was built. */
  readonly page: string;
  /** The pages of the documentation, as they were built. */
  readonly docs: string;
  /** Where a clone may have the launcher as one file (tools/launcher/build.ts); in a package it is one. */
  readonly builtLauncher?: string;
  /** Images of guests that came with the product; a clone builds its own into the cache. */
  readonly guests?: string;
  /** What says of which release this is; a clone is of none. */
  readonly releaseFile?: string;
};

const PROJECT = resolve(import.meta.dirname, '../..');

export const PLACES: ProductPlaces = {
  programs: join(PROJECT, 'bin'),
  embeddedProgram: join(import.meta.dirname, 'all-in-one.ts'),
  deploy: join(PROJECT, 'deploy'),
  embeddedManifests: join(import.meta.dirname, 'embedded/manifests'),
  examples: join(PROJECT, 'examples'),
  page: join(PROJECT, '.tools/ui'),
  docs: join(PROJECT, '.tools/docs'),
  builtLauncher: join(PROJECT, '.tools/launcher'),
};
