/**
 * `npm run build`: the release files in dist/, with their sizes; docs/releases.md says what they are.
 *
 *   npm run build [-- --into dist] [--packages] [--images [--registry images.local/kubevirt-ts] [--tag v0.1.0]] [--sign KEY.pem] [--builder ID]
 */
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { VERSION } from '../../src/cmd/version.ts';
import { reportUserError } from './report-user-error.ts';
import { readKeyFile } from './signature.ts';
import { writeRelease } from './write-release.ts';

const { values } = parseArgs({
  options: {
    into: { type: 'string', default: resolve(import.meta.dirname, '../../dist') },
    packages: { type: 'boolean', default: false },
    images: { type: 'boolean', default: false },
    registry: { type: 'string', default: 'images.local/kubevirt-ts' },
    tag: { type: 'string', default: VERSION },
    builder: { type: 'string', default: 'urn:kubevirt-ts:builder:local' },
    sign: { type: 'string' },
  },
});

await reportUserError(async () => {
  const { packages, images, registry, tag, builder } = values;
  const into = resolve(values.into);
  const signWith = values.sign === undefined ? undefined : readKeyFile(values.sign);
  const files = await writeRelease({ into, builder, packages, images: images ? { registry, tag } : undefined, signWith });
  for (const { name, sha256 } of files)
    console.log(
      `${sha256.slice(0, 12)} ${String(Math.round(statSync(join(into, name)).size / 1024)).padStart(6)} KiB  ${join(into, name)}`,
    );
});
