/** The images as archives in a folder. The same sources, packages and Node give the same digests. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cacheFolder } from '../../src/base/node/folders.ts';
import { readIndex } from '../../src/images/layout.ts';
import { pushImage } from '../../src/images/push.ts';
import { findLogin } from '../../src/images/registry-login.ts';
import { type ImageFile, type WrittenLayers, writeLayeredImage } from '../../src/images/write-image.ts';
import { unpackPackages } from '../guest-image/packages.ts';
import { renameIntoCache } from '../kubernetes/rename-into-cache.ts';
import { bundle } from '../release/bundle.ts';
import { buildUi } from '../ui/build.ts';
import { type DebianPackage, type DebianPackageFiles, describePackages, packagesOf } from './debian-packages.ts';
import { type ImageContent, imagesFrom } from './images.ts';
import { writeArchive } from './oci-archive.ts';

export type BuildOptions = {
  /** What the names of the images begin with. */
  readonly registry: string;
  readonly tag: string;
  readonly into: string;
  /** The address of a registry that gets them, too; logins are those of podman and docker. */
  readonly push?: string | undefined;
  /** Names of images; all of them when not given. */
  readonly only?: readonly string[];
  /** What the programs call their version, when not what the sources say. */
  readonly version?: string;
};
export type BuiltImage = {
  readonly reference: string;
  readonly digest: string;
  readonly archive: string;
  /** Of the archive, which is compressed. */
  readonly bytes: number;
  readonly unpackedBytes: number;
  /** Those whose files are in it. */
  readonly debianPackages: readonly DebianPackage[];
};

/** In the folder of unpacked packages: which they are. Part of no image. */
const PACKAGE_LIST = 'debian-packages.json';
const DISK_TOOL_PACKAGES = ['e2fsprogs', 'fdisk', 'dosfstools'];
const PACKAGES = [
  'qemu-system-x86',
  'qemu-utils',
  'xz-utils',
  'busybox-static',
  'coreutils',
  'procps',
  'libstdc++6',
  'libc6',
  ...DISK_TOOL_PACKAGES,
];

/** Builds every image; those of an earlier run are replaced. */
export async function buildImages({ registry, tag, into, push, only, version }: BuildOptions): Promise<BuiltImage[]> {
  mkdirSync(into, { recursive: true });
  const work = mkdtempSync(join(tmpdir(), 'kubevirt-ts-images-'));
  try {
    const packages = ensurePackages();
    const applets = execFileSync(join(packages, 'bin/busybox'), ['--list'], { encoding: 'utf8' }).trim().split('\n').sort();
    const bundles = await bundle(join(work, 'bundles'), { version });
    const page = join(work, 'page');
    await buildUi(page);
    const debian: DebianPackageFiles[] = JSON.parse(readFileSync(join(packages, PACKAGE_LIST), 'utf8'));
    const built: BuiltImage[] = [];
    const written: WrittenLayers = new Map();
    const contents = imagesFrom({ packages, node: process.execPath, bundles, page, applets: applets.filter((name) => name !== 'busybox') });
    for (const content of contents.filter(({ name }) => only?.includes(name) ?? true)) {
      const reference = `${registry}/${content.name}:${tag}`;
      const debianPackages = packagesOf(content.layers.flat(), { root: packages, packages: debian });
      const image = await build({ content, reference, work, written, archive: join(into, `${content.name}.tar`) });
      built.push({ ...image, debianPackages });
      if (push) await pushTo(push, { dir: join(work, content.name), reference });
    }
    return built;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

type BuildInput = { content: ImageContent; reference: string; work: string; written: WrittenLayers; archive: string };

async function build(options: BuildInput): Promise<Omit<BuiltImage, 'debianPackages'>> {
  const { content, reference, work, written, archive } = options;
  const layout = join(work, content.name);
  const { digest } = await writeLayeredImage({ dir: layout, reference, layers: content.layers, owner: 0, config: content.config, written });
  await writeArchive(layout, { reference, archive });
  const unpackedBytes = content.layers.flat().reduce((sum, file) => sum + sizeOf(file), 0);
  return { reference, digest, archive, bytes: statSync(archive).size, unpackedBytes };
}

/** Under the name that it has, without the host in it, and as the latest: that is what examples/vmctl name. */
async function pushTo(registry: string, { dir, reference }: { dir: string; reference: string }): Promise<void> {
  const [, repository = '', tag = ''] = /^[^/]+\/(.+):([^:/]+)$/.exec(reference) ?? [];
  const login = findLogin(registry, process.env);
  for (const descriptor of readIndex(dir))
    for (const each of new Set([tag, 'latest'])) await pushImage({ dir, descriptor, registry, repository, tag: each, login });
}

function sizeOf(file: ImageFile): number {
  return 'path' in file ? lstatSync(file.path).size : 'content' in file ? file.content.length : 0;
}

/** Kept by the list of names: remove the cache folder to take up newer packages. */
function ensurePackages(): string {
  const folder = join(
    cacheFolder(),
    'image-packages',
    createHash('sha256')
      .update([...PACKAGES, PACKAGE_LIST].join())
      .digest('hex')
      .slice(0, 16),
  );
  if (existsSync(folder)) return folder;
  mkdirSync(join(cacheFolder(), 'image-packages'), { recursive: true });
  const work = mkdtempSync(join(cacheFolder(), 'image-packages', 'build-'));
  try {
    const files = unpackPackages({ names: PACKAGES, workDir: work, into: join(work, 'root'), withDependencies: true });
    writeFileSync(join(work, 'root', PACKAGE_LIST), JSON.stringify(describePackages(files)));
    renameIntoCache(join(work, 'root'), folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return folder;
}
