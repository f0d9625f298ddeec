/** `npm run build`: the release files in dist/, with their sizes. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { bundle } from './bundle.ts';

for (const [name, path] of await bundle(resolve(import.meta.dirname, '../../dist')))
  console.log(`${name.padEnd(16)} ${String(Math.round(statSync(path).size / 1024)).padStart(6)} KiB  ${path}`);
