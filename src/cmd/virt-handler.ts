/** virt-handler on a cluster: one on each node, which finds the sockets of its guests in the kubelet's folder. Guests outlive it. */
import type { FlagsOf } from '../api/kubevirt/configuration/customize-causes.ts';
import { UserError } from '../base/errors.ts';
import { startVirtHandler } from '../virt-handler/start.ts';
import { followFiles, readBundle, readPair } from './cluster/certificate-files.ts';
import { runComponent } from './cluster/run-component.ts';

await runComponent({
  name: 'virt-handler',
  flags: {
    port: '8186',
    node: process.env['NODE_NAME'] ?? '',
    'kubelet-root': '/var/lib/kubelet',
    'run-logs': '',
    'usage-history': '',
    'node-processes': '',
    'device-plugins': '',
    'serving-certificate': '/etc/virt-handler/servercertificates',
    'migration-certificate': '/etc/virt-handler/migrationcertificates',
    'authority-bundle': '/etc/kubevirt-ca/ca-bundle',
  } satisfies FlagsOf<'virt-handler'>,
  async run({ flags, ready, ...context }) {
    const nodeName = flags['node'];
    if (!nodeName) throw new UserError('USAGE', '--node is not given', { why: 'NODE_NAME is not set either', exitCode: 2 });
    let handler: Awaited<ReturnType<typeof startVirtHandler>> | undefined;
    const certs = followFiles({
      ...context,
      read: () => ({
        ...readPair(flags['serving-certificate'] ?? ''),
        migration: readPair(flags['migration-certificate'] ?? ''),
        ca: readBundle(flags['authority-bundle'] ?? ''),
      }),
      onChange: (next) => handler?.renewCertificates(next),
    });
    handler = await startVirtHandler({
      ...context,
      nodeName,
      kubeletRoot: flags['kubelet-root'] ?? '',
      usageHistoryFolder: flags['usage-history'] || undefined,
      nodeProcesses: flags['node-processes'] || undefined,
      devicePlugins: flags['device-plugins'] || undefined,
      ...(flags['run-logs'] && { runLogsFolder: flags['run-logs'] }),
      certs: certs.current,
      port: Number(flags['port']),
    });
    context.log.info('serving', { port: handler.port, node: nodeName });
    ready();
    await handler.stopped;
  },
});
