/** An OCI layout as one file, as `ctr images import` and `skopeo copy oci-archive:` read it. */
import { createWriteStream, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { pack } from 'tar-stream';
import { readIndex } from '../../src/images/layout.ts';

/** Writes every image of the layout under this name. containerd takes the image's name from an annotation of its own. */
export async function writeArchive(layout: string, { reference, archive }: { reference: string; archive: string }): Promise<void> {
  const manifests = readIndex(layout).map((each) => ({
    ...each,
    annotations: { ...each.annotations, 'io.containerd.image.name': reference, 'org.opencontainers.image.ref.name': reference },
  }));
  const files = new Map<string, Buffer>([
    ['oci-layout', readFileSync(join(layout, 'oci-layout'))],
    ['index.json', Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: 'application/vnd.oci.image.index.v1+json', manifests }))],
  ]);
  for (const { digest } of manifests) {
    const manifest = readFileSync(blob(layout, digest));
    const { config, layers } = JSON.parse(manifest.toString()) as { config: { digest: string }; layers: { digest: string }[] };
    for (const each of [digest, config.digest, ...layers.map((layer) => layer.digest)])
      files.set(`blobs/sha256/${each.slice(7)}`, readFileSync(blob(layout, each)));
  }
  const tar = pack();
  for (const [name, content] of files) tar.entry({ name, mtime: new Date(0) }, content);
  tar.finalize();
  // tar-stream's Readable is one of its own make, which node's types do not know
  await pipeline(tar as unknown as NodeJS.ReadableStream, createWriteStream(`${archive}.part`));
  renameSync(`${archive}.part`, archive);
}

function blob(layout: string, digest: string): string {
  return join(layout, 'blobs/sha256', digest.slice('sha256:'.length));
}
