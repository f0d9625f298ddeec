/** virt-api on a cluster: the aggregated API and the webhooks, over TLS with certificates that are renewed while it runs. */
import type { FlagsOf } from '../api/kubevirt/configuration/customize-causes.ts';
import { startVirtApi } from '../virt-api/start.ts';
import { followFiles, readBundle, readPair } from './cluster/certificate-files.ts';
import { followFrontProxy } from './cluster/front-proxy-trust.ts';
import { runComponent } from './cluster/run-component.ts';
import { VERSION } from './version.ts';

await runComponent({
  name: 'virt-api',
  flags: {
    port: '8443',
    'metrics-port': '8444',
    'serving-certificate': '/etc/virt-api/certificates',
    'handler-client-certificate': '/etc/virt-handler/clientcertificates',
    'authority-bundle': '/etc/kubevirt-ca/ca-bundle',
    'tools-image': '',
  } satisfies FlagsOf<'virt-api'>,
  async run({ flags, ready, ...context }) {
    const renew = () => server?.renew({ serving: files.current.serving, clientCa: frontProxy.current.ca });
    const files = followFiles({
      ...context,
      read: () => ({
        serving: readPair(flags['serving-certificate'] ?? ''),
        client: readPair(flags['handler-client-certificate'] ?? ''),
        authorities: readBundle(flags['authority-bundle'] ?? ''),
      }),
      onChange: renew,
    });
    const frontProxy = await followFrontProxy({ ...context, onChange: renew });
    let server: Awaited<ReturnType<typeof startVirtApi>> | undefined;
    server = await startVirtApi({
      ...context,
      pki: {
        virtApi: files.current.serving,
        frontProxyCa: frontProxy.current.ca,
        get virtHandlerClient() {
          return files.current.client;
        },
        get kubevirtCa() {
          return files.current.authorities;
        },
      },
      get frontProxyNames() {
        return frontProxy.current.names;
      },
      port: Number(flags['port']),
      ...(flags['tools-image'] && { toolsImage: flags['tools-image'] }),
      version: VERSION,
    });
    context.log.info('serving', { port: server.port });
    ready();
    await server.stopped;
  },
});
