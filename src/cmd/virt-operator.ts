/** virt-operator on a cluster: installs the other components and keeps them as the KubeVirt object says. There is one of it. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { INSTALL_NAMESPACE } from '../api/kubevirt/names.ts';
import { UserError } from '../base/errors.ts';
import { parseGoDuration } from '../base/go-duration.ts';
import { runVirtOperator } from '../virt-operator/run.ts';
import { readManifests } from './cluster/read-manifests.ts';
import { runComponent } from './cluster/run-component.ts';
import { VERSION } from './version.ts';

/** Beside the bundle in the image, at the top of a clone. */
const beside = join(import.meta.dirname, 'deploy');
const MANIFESTS = existsSync(beside) ? beside : resolve(import.meta.dirname, '../../deploy');

await runComponent({
  name: 'virt-operator',
  flags: {
    namespace: INSTALL_NAMESPACE,
    image: process.env['VIRT_OPERATOR_IMAGE'] ?? '',
    'launcher-image': process.env['VIRT_LAUNCHER_IMAGE'] ?? '',
    'importer-image': process.env['VIRT_IMPORTER_IMAGE'] ?? '',
    'kubelet-root': process.env['KUBELET_ROOT'] ?? '/var/lib/kubelet',
    manifests: MANIFESTS,
    'certificate-spread': '3m',
  },
  async run({ flags, ready, ...context }) {
    const image = flags['image'];
    if (!image) throw new UserError('USAGE', '--image is not given', { why: 'VIRT_OPERATOR_IMAGE is not set either', exitCode: 2 });
    const spreadMs = parseGoDuration(flags['certificate-spread'] ?? '');
    if (spreadMs === undefined)
      throw new UserError('USAGE', `--certificate-spread ${flags['certificate-spread']} is not a duration`, { fix: '3m', exitCode: 2 });
    // There is one of it.
    context.metrics.gauge('kubevirt_virt_operator_leading_status', 'Whether this one of its replicas works.', () => 1);
    await runVirtOperator({
      ...context,
      manifests: readManifests(flags['manifests'] ?? ''),
      defaults: {
        namespace: flags['namespace'] ?? '',
        version: VERSION,
        image,
        launcherImage: flags['launcher-image'] || undefined,
        importerImage: flags['importer-image'] || undefined,
        kubeletRoot: flags['kubelet-root'],
      },
      spreadMs,
      onSynced: ready,
    });
  },
});
