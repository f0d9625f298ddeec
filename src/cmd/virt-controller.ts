/** virt-controller on a cluster: of its replicas the one that holds the Lease works, the others wait. */

import { hostname } from 'node:os';
import { CONFIG_MAPS } from '../api/core/configmap.ts';
import { NODES } from '../api/core/node.ts';
import type { FlagsOf } from '../api/kubevirt/configuration/customize-causes.ts';
import { INSTALL_NAMESPACE } from '../api/kubevirt/names.ts';
import { UserError } from '../base/errors.ts';
import { runLeader } from '../client/leader-election.ts';
import { runVirtController } from '../virt-controller/run.ts';
import { decideContainerDisks } from '../virt-controller/vmi/decide-container-disks.ts';
import type { ContainerDiskWay } from '../virt-controller/vmi/launcher-volumes.ts';
import { CERTIFICATES } from '../virt-operator/render/options.ts';
import { type ComponentContext, runComponent } from './cluster/run-component.ts';

/** As the flag says, or by what this cluster can do. */
async function containerDiskWay(
  { client, log }: Pick<ComponentContext, 'client' | 'log'>,
  asked: string | undefined,
): Promise<ContainerDiskWay> {
  if (asked === 'image-volume' || asked === 'container') return asked;
  if (asked !== 'auto')
    throw new UserError('USAGE', `--container-disks ${asked} is not known`, { fix: 'auto, image-volume or container', exitCode: 2 });
  const { gitVersion } = (await (await client.request('/version')).json()) as { gitVersion: string };
  const { items: nodes } = await client.list(NODES);
  const { way, because } = decideContainerDisks({ gitVersion, nodes });
  log.info('the way of container disks is chosen', { way, because });
  return way;
}

/** As the operator publishes it. */
async function authorityIn({ client }: Pick<ComponentContext, 'client'>, namespace: string): Promise<string> {
  const { authorities: name, authoritiesKey } = CERTIFICATES;
  return (await client.get(CONFIG_MAPS, { namespace, name }))?.data?.[authoritiesKey] ?? '';
}

await runComponent({
  name: 'virt-controller',
  flags: {
    'launcher-image': '',
    'importer-image': '',
    namespace: INSTALL_NAMESPACE,
    'container-disks': 'auto',
  } satisfies FlagsOf<'virt-controller'>,
  async run({ flags, ready, ...context }) {
    const launcherImage = flags['launcher-image'];
    if (!launcherImage)
      throw new UserError('USAGE', '--launcher-image is not given', { fix: 'name the image of launcher Pods', exitCode: 2 });
    let isLeading = false;
    context.metrics.gauge('kubevirt_virt_controller_leading_status', 'Whether this one of its replicas works.', () => Number(isLeading));
    ready(); // to wait for its turn is what a second replica is for
    await runLeader({
      ...context,
      namespace: flags['namespace'] ?? '',
      name: 'virt-controller',
      identity: `${hostname()}_${crypto.randomUUID()}`,
      lead: async (signal) => {
        isLeading = true;
        const containerDisks = await containerDiskWay(context, flags['container-disks']);
        const importerImage = flags['importer-image'];
        const readAuthority = () => authorityIn(context, flags['namespace'] ?? '');
        const images = { launcherImage, ...(importerImage && { importerImage }) };
        await runVirtController({ ...context, signal, ...images, containerDisks, readAuthority });
      },
    });
  },
});
