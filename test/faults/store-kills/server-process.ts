/** Store and API server as a process that is there to be killed. Prints the port when it serves. */
import { join } from 'node:path';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { ensurePki } from '../../../src/base/node/pki.ts';
import { createApiServer } from '../../../src/control-plane/apiserver/create-api-server.ts';
import { listen } from '../../../src/control-plane/apiserver/transport/listen.ts';
import { keepStore } from '../../../src/control-plane/store/keep-store.ts';
import { openStore } from '../../../src/control-plane/store/store.ts';

const [folder = '', historySize = ''] = process.argv.slice(2);
const store = openStore({ path: join(folder, 'store.db'), historySize: Number(historySize), onFatal: () => process.exit(1) });
// A clock in a hurry: marks and checkpoints, which are minutes apart, are to be hit as well.
const hurried = {
  ...systemClock,
  steady: () => systemClock.steady() * 400,
  sleep: (_: number, signal: AbortSignal) => systemClock.sleep(5, signal),
};
const signal = new AbortController().signal;
void keepStore({ store, backupsDir: join(folder, 'backups'), clock: hurried, log: silentLogger, signal });
const pki = await ensurePki(join(folder, 'pki'), systemClock);
const server = await createApiServer({ store, clock: systemClock, log: silentLogger });
const upgrade = () => Promise.reject(new Error('nothing here leaves HTTP'));
const { port } = await listen({ handle: server.handle, upgrade, pki, port: 0, log: silentLogger });
process.stdout.write(`${port}\n`);
