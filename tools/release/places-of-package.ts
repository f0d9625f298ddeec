/** Takes the place of src/cmd/places.ts in a package, where all code is in lib/. */
import { join, resolve } from 'node:path';
import type { ProductPlaces } from '../../src/cmd/places.ts';

const PACKAGE = resolve(import.meta.dirname, '..');

export const PLACES: ProductPlaces = {
  programs: join(PACKAGE, 'bin'),
  embeddedProgram: join(PACKAGE, 'lib/all-in-one.mjs'),
  deploy: join(PACKAGE, 'deploy'),
  embeddedManifests: join(PACKAGE, 'embedded-manifests'),
  examples: join(PACKAGE, 'examples'),
  page: join(PACKAGE, 'page'),
  docs: join(PACKAGE, 'docs'),
  guests: join(PACKAGE, 'guests'),
  releaseFile: join(PACKAGE, 'release.json'),
};
