/** The process beside the control plane that serves the names of the cluster, makes its volumes and takes snapshots of them: `run.ts FOLDER ADDRESS NODE...`. */
import { join } from 'node:path';
import { ENDPOINT_SLICES } from '../../../src/api/core/endpoint-slice.ts';
import { SERVICES } from '../../../src/api/core/service.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { createLogger } from '../../../src/base/log.ts';
import { startCache } from '../../../src/client/cache.ts';
import { createClient } from '../../../src/client/client.ts';
import { loadKubeconfig } from '../../../src/client/node/kubeconfig.ts';
import { createTlsFetch } from '../../../src/client/node/tls-fetch.ts';
import { FolderCopies } from '../../../src/control-plane/volumes/folder-copies.ts';
import { runSnapshots } from '../../../src/control-plane/volumes/run-snapshots.ts';
import { PROVISIONER } from './decide.ts';
import { addressesOf } from './names.ts';
import { serveDns } from './serve-dns.ts';
import { runVolumes } from './volumes.ts';

const [folder = '', address = '', ...nodes] = process.argv.slice(2);
const cluster = loadKubeconfig(join(folder, 'kubeconfig'));
const client = createClient({ fetch: createTlsFetch(cluster), baseUrl: cluster.server, userAgent: 'kubernetes-test-addons' });
const log = createLogger({ write: (line) => console.error(line), level: 'info', now: systemClock.now });
const options = { client, clock: systemClock, log, signal: new AbortController().signal };

const services = startCache({ ...options, resource: SERVICES });
const slices = startCache({ ...options, resource: ENDPOINT_SLICES });
await Promise.all([services.synced, slices.synced]);
const lookup = (name: string) => addressesOf(name, { services: services.list(), slices: slices.list() });
await serveDns({ address, port: 53, lookup });
const copies = new FolderCopies(systemClock);
const volumesDir = join(folder, 'volumes');
await Promise.all([runVolumes({ ...options, folder, nodes }), runSnapshots({ ...options, volumesDir, copies, driver: PROVISIONER })]);
