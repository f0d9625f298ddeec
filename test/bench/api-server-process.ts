/** The embedded API server alone, as a process of its own: store, certificates, TLS. Prints one line when it serves. */
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { ensurePki } from '../../src/base/node/pki.ts';
import { writeKubeconfig } from '../../src/client/node/kubeconfig.ts';
import { createApiServer } from '../../src/control-plane/apiserver/create-api-server.ts';
import { listen } from '../../src/control-plane/apiserver/transport/listen.ts';
import { openStore } from '../../src/control-plane/store/store.ts';

const folder = process.argv[2] ?? '';
const store = openStore({ path: join(folder, 'store.db') });
const pki = await ensurePki(join(folder, 'pki'), systemClock);
const server = await createApiServer({ store, clock: systemClock, log: silentLogger });
const upgrade = () => Promise.reject(new Error('nothing here leaves HTTP'));
const { port } = await listen({ handle: server.handle, upgrade, pki, port: 0, log: silentLogger });
const { cert, key } = pki.admin;
await writeKubeconfig(join(folder, 'kubeconfig'), { server: `https://127.0.0.1:${port}`, ca: pki.ca, cert, key, name: 'bench' });
process.stdout.write('ready\n');
process.once('SIGTERM', () => process.exit(0)); // so that --cpu-prof can write what it saw
