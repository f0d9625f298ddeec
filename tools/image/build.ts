/**
 * Makes the images of the product from Debian packages and our release files, without a Docker daemon and without root:
 * one archive for each, as `ctr images import` and `skopeo copy oci-archive:` read it. Prints names, digests and sizes.
 *
 *   node tools/image/build.ts [--registry images.local/kubevirt-ts] [--tag v0.1.0] [--into dist/images] [--push http://localhost:5000]
 *
 * Pushed to any registry, `https://registry.example.com` as well; logins are those of podman and docker (src/images/registry-login.ts).
 */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { UserError } from '../../src/base/errors.ts';
import { VERSION } from '../../src/cmd/version.ts';
import { reportUserError } from '../release/report-user-error.ts';
import { buildImages } from './build-images.ts';

const { values } = parseArgs({
  options: {
    registry: { type: 'string', default: 'images.local/kubevirt-ts' },
    tag: { type: 'string', default: VERSION },
    push: { type: 'string' },
    into: { type: 'string', default: resolve(import.meta.dirname, '../../dist/images') },
  },
});

await reportUserError(async () => {
  if (values.push !== undefined && !(/^https?:\/\/[^/]+\/?$/.test(values.push) && URL.canParse(values.push)))
    throw new UserError('USAGE', `${values.push} is no address of a registry`, {
      why: 'names are those of the images',
      fix: '--push https://REGISTRY',
      exitCode: 2,
    });
  for (const { reference, digest, archive, bytes, unpackedBytes } of await buildImages(values)) {
    console.log(`${reference}\n  ${digest}\n  ${mib(bytes)} MiB (${mib(unpackedBytes)} MiB unpacked)  ${archive}`);
  }
});

function mib(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1);
}
