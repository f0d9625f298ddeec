/** API server, our definitions and webhooks, and virt-api behind them, as one process over TLS, which says how it fares when it is asked. */
import { silentLogger } from '../../../src/base/log.ts';
import { listen } from '../../../src/control-plane/apiserver/transport/listen.ts';
import { startAdmissionWorld } from '../../../src/virt-api/admission/admission-world.testing.ts';
import { type Stalls, startStallMeter } from './stall-meter.ts';

export type Told =
  | { readonly port: number; readonly ca: string; readonly cert: string; readonly key: string }
  | (Stalls & { readonly residentMiB: number });

const world = await startAdmissionWorld();
const upgrade = () => Promise.reject(new Error('nothing here leaves HTTP'));
const web = await listen({ handle: world.handle, upgrade, pki: world.pki, port: 0, log: silentLogger });
const stalls = startStallMeter();
const tell = (told: Told) => process.send?.(told);
stalls(); // what starting took is not a request's
tell({ port: web.port, ca: world.pki.ca, cert: world.pki.admin.cert, key: world.pki.admin.key });
process.on('message', () => tell({ ...stalls(), residentMiB: process.memoryUsage.rss() / 1024 / 1024 }));
process.once('disconnect', async () => {
  await web.close();
  await world.close();
});
