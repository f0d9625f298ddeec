/** Takes a disk, or the manifest of its machine, out of a cluster; goes on where an earlier try ended. */
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { stringify } from 'yaml';
import { EXPORT_TOKEN_HEADER, manifestPath } from '../../../../api/exporter/exporter.ts';
import { VM_EXPORTS } from '../../../../api/kubevirt/kinds/vm-export.ts';
import { exportPath } from '../../../../api/kubevirt/subresource-path.ts';
import { UserError } from '../../../../base/errors.ts';
import type { ClusterDeps, ConnectionFlags } from '../../../deps.ts';
import { type CreateFlags, ensureExport, sourceIn, tokenOf, untilReady, usage } from '../../../export/export-object.ts';
import type { DiskFormat } from '../../../export/save-disk.ts';
import { checkedFormat, type OpenExport, takeVolume } from '../../../export/take-volume.ts';
import { untilInterrupted } from '../../image/interruptible.ts';

type DownloadFlags = ConnectionFlags &
  CreateFlags & {
    readonly output?: string;
    readonly volume?: string;
    readonly format?: string;
    readonly keepVme: boolean;
    readonly deleteVme: boolean;
    readonly manifest: boolean;
    readonly manifestOutputFormat?: string;
    readonly includeSecret: boolean;
    readonly serviceUrl?: string;
    readonly readinessTimeout?: string;
    /** Those are for others. */
    readonly insecure: boolean;
    readonly portForward: boolean;
    readonly localPort?: string;
    readonly retry?: string;
  };

export async function run(deps: ClusterDeps, flags: DownloadFlags, name: string): Promise<void> {
  const source = sourceIn(flags);
  const format = checked(flags);
  const isMade = source !== undefined && (await ensureExport(deps, name, source, flags));
  try {
    await untilInterrupted(deps, 'all of it was taken; the same command continues', async (signal) => {
      const exported = await untilReady(deps, name, { timeout: flags.readinessTimeout, signal });
      const open = { exported, token: await tokenOf(deps, exported), signal };
      await (flags.manifest ? takeManifest(deps, flags, open) : takeVolume(deps, { ...flags, format }, open));
    });
  } finally {
    if (flags.deleteVme || (isMade && !flags.keepVme)) await deps.client.delete(VM_EXPORTS, { namespace: deps.namespace, name });
  }
}

function checked({ format, keepVme, deleteVme, manifest, output, volume, manifestOutputFormat, pvc }: DownloadFlags): DiskFormat {
  if (keepVme && deleteVme) throw usage('--keep-vme and --delete-vme exclude each other', 'choose one');
  if (manifest && (volume !== undefined || pvc !== undefined))
    throw usage('a manifest is that of a machine, not of a volume', 'leave --volume and --pvc away');
  if (manifestOutputFormat !== undefined && !['yaml', 'json'].includes(manifestOutputFormat))
    throw usage(`${manifestOutputFormat} is not yaml or json`, '--manifest-output-format json');
  if (output === '') throw usage('--output is empty', '--output disk.img.gz');
  return checkedFormat(format);
}

async function takeManifest(deps: ClusterDeps, flags: DownloadFlags, { exported, token, signal }: OpenExport): Promise<void> {
  const { client, namespace, stdout } = deps;
  const { manifestOutputFormat = 'yaml', includeSecret, serviceUrl, output = '-' } = flags;
  const side = exported.status?.links?.external && serviceUrl === undefined ? 'external' : 'internal';
  if (!exported.status?.links?.[side]?.manifests)
    throw new UserError('NO_MANIFEST', 'this export has no manifest', { why: 'it is not one of a machine' });
  const headers = { [EXPORT_TOKEN_HEADER]: token, accept: 'application/json' };
  const parts = includeSecret ? (['all', 'secret'] as const) : (['all'] as const);
  const items: unknown[] = [];
  for (const part of parts) {
    const path = exportPath({ namespace, name: exported.metadata.name }, manifestPath(side, part));
    items.push(...((await (await client.request(path, { headers, signal })).json()) as { items: unknown[] }).items);
  }
  let text =
    manifestOutputFormat === 'json'
      ? `${JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, undefined, 2)}\n`
      : items.map((each) => stringify(each)).join('---\n');
  const [host] = /https:\/\/[^/]+/.exec(exported.status.links[side]?.volumes?.[0]?.formats?.[0]?.url ?? '') ?? [];
  if (serviceUrl !== undefined && host !== undefined) text = text.replaceAll(host, `https://${serviceUrl}`);
  if (output === '-') return void stdout.write(text);
  await writeFile(resolve(deps.workingFolder, output), text, { mode: 0o600 });
}
