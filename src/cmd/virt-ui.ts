/** virt-ui on a cluster: the web page for many. It has no rights of its own; everybody brings a token. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../base/clock.ts';
import { apiServerOfPod } from '../client/node/in-cluster.ts';
import { readPageFiles } from '../ui-server/page-files.ts';
import { startForMany } from '../ui-server/start-for-many.ts';
import { followFiles, readBundle, readPair } from './cluster/certificate-files.ts';
import { runProcess } from './cluster/run-process.ts';
import { VERSION } from './version.ts';

await runProcess({
  name: 'virt-ui',
  flags: {
    port: '8443',
    'api-server': '', // that of this Pod's cluster unless given
    'api-server-ca': '/etc/kubernetes-ca/ca.crt',
    certificate: '/etc/virt-ui/certificate', // without files in it plain HTTP is served, for an ingress that has one
    hosts: '',
    namespace: 'default',
    page: '/usr/lib/kubevirt-ts/page',
  },
  async run({ flags, log, signal, host, health }) {
    const folder = flags['certificate'] ?? '';
    const apiServer = flags['api-server'] || apiServerOfPod(process.env);
    const files = readPageFiles(flags['page'] ?? '');
    const certificates = followFiles({
      read: () => (existsSync(join(folder, 'tls.crt')) ? readPair(folder) : undefined),
      onChange: (fresh) => fresh && server?.renew(fresh),
      clock: systemClock,
      log,
      signal,
    });
    let server: Awaited<ReturnType<typeof startForMany>> | undefined;
    server = await startForMany({
      api: { context: 'in-cluster', server: apiServer, ca: readBundle(flags['api-server-ca'] ?? '') },
      version: VERSION,
      namespace: flags['namespace'] ?? '',
      files: () => files,
      host,
      port: Number(flags['port']),
      hosts: (flags['hosts'] ?? '').split(',').filter(Boolean),
      certificate: certificates.current,
      clock: systemClock,
      log,
    });
    log.info('serving', { port: server.port, scheme: certificates.current ? 'https' : 'http' });
    health.ready();
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    await server.close();
  },
});
