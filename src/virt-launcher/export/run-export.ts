/** virt-importer, in the Pod of an export: opens what is on PVCs and serves it to whoever has the token, until it is ended. */
import { constants, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import {
  EXPORT_PORT,
  EXPORT_TOKEN_KEY,
  EXPORT_TOKEN_MOUNT,
  EXPORT_VARIABLE,
  EXPORT_WORK_MOUNT,
  type ExportState,
  type ExportTask,
  exportedDevice,
  exportedMount,
} from '../../api/exporter/exporter.ts';
import { IMPORT_ADDRESS_VARIABLE, IMPORT_PORT } from '../../api/importer/importer-pod.ts';
import { messageOf, UserError } from '../../base/errors.ts';
import { createLogger } from '../../base/log.ts';
import { issueAuthority, issueLeaf } from '../../base/node/pki-issue.ts';
import { sandboxPath } from '../../base/node/sandbox-path.ts';
import { startWebServer } from '../../base/node/web-server.ts';
import { hasDeviceFolder } from '../block-device.ts';
import type { ImporterOptions } from '../import/run-import.ts';
import { stepDown } from '../privileges.ts';
import { answerExport } from './answer-export.ts';
import { type OpenVolume, openExportedVolume } from './open-volume.ts';
import { servingAddress } from './serving-address.ts';

const COMMON_NAME = 'virt-exporter';
const LIFE_MS = 30 * 24 * 60 * 60 * 1000;
const CLOCK_MARGIN_MS = 2 * 60 * 60 * 1000;

/** Runs until the signal aborts. */
export async function runExport({ env, clock, signal, report }: ImporterOptions): Promise<void> {
  const task = JSON.parse(env[EXPORT_VARIABLE] ?? '') as ExportTask; // as virt-controller writes it
  const host = env[IMPORT_ADDRESS_VARIABLE] ?? '';
  const { folders, token } = stepIn(env, task);
  let state: ExportState | undefined;
  const states = createServer((_, response) => response.setHeader('connection', 'close').end(JSON.stringify(state ?? {})));
  states.on('error', (error) => report(`nobody can ask how it is: ${messageOf(error)}`));
  states.listen(IMPORT_PORT, host);
  const volumes = new Map<string, OpenVolume>();
  const ended = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  try {
    for (const [index, { name, format, isDevice }] of task.volumes.entries()) {
      const socketPath = `nbd-${index}.sock`;
      const opened = { folder: folders[index] ?? '', isDevice, format, socketPath, searchPath: env['PATH'], clock, signal };
      volumes.set(name, await openExportedVolume(opened).catch((error) => Promise.reject(ofVolume(name, error))));
    }
    const { authority, serving } = await certificateFor(task, clock.now());
    const internal = task.bases.internal && { ...task.bases.internal, cert: authority };
    const disks = task.volumes.filter(({ name }) => !volumes.get(name)?.files);
    const known = { ...task, volumes: disks, bases: { ...task.bases, ...(internal && { internal }) } };
    const server = await startWebServer({
      serving,
      clientCa: authority, // nobody needs to show one
      host: servingAddress(host, env),
      port: EXPORT_PORT,
      clock,
      log: createLogger({ write: report, level: 'info', now: () => clock.now() }),
      handle: (request) => answerExport(request, { task: known, volumes, token }),
    });
    state = {
      cert: authority,
      volumes: [...volumes].map(([name, { sizeBytes, files }]) => ({ name, sizeBytes, hasFiles: files !== undefined })),
    };
    report('the volumes are served');
    await ended;
    await server.close();
  } catch (error) {
    if (signal.aborted) return;
    // It stays, so that whoever asks is told why: beginning again would find the same.
    state = { volumes: [], failure: error instanceof UserError ? [error.message, error.why].filter(Boolean).join(': ') : messageOf(error) };
    report(state.failure ?? '');
    await ended;
  } finally {
    for (const volume of volumes.values()) volume.close();
    states.close();
  }
}

function ofVolume(name: string, error: unknown): unknown {
  if (!(error instanceof UserError)) return error;
  return new UserError(error.code, `PVC ${name}: ${error.message}`, { ...(error.why !== undefined && { why: error.why }), cause: error });
}

/** As with importers: folders that only root gets to are opened by root, and everything in them by the user of the Pod. */
function stepIn(env: ImporterOptions['env'], { volumes }: ExportTask): { readonly folders: readonly string[]; readonly token: string } {
  const privileges = stepDown(env);
  const opened = privileges.asRoot(() => {
    process.chdir(sandboxPath(EXPORT_WORK_MOUNT.mountPath, env));
    const token = readFileSync(`${sandboxPath(EXPORT_TOKEN_MOUNT.mountPath, env)}/${EXPORT_TOKEN_KEY}`, 'utf8');
    const folders = volumes.map(({ isDevice }, index) => {
      const path = sandboxPath(isDevice ? exportedDevice(index).devicePath : exportedMount(index).mountPath, env);
      if (isDevice && !hasDeviceFolder(path, env)) return path; // a device, which the runtime has put there
      return `/proc/self/fd/${openSync(path, constants.O_RDONLY | constants.O_DIRECTORY)}`;
    });
    return { token: token.trim(), folders };
  });
  privileges.dropForGood();
  return opened;
}

async function certificateFor({ serverNames }: ExportTask, nowMs: number) {
  const validity = { notBeforeMs: nowMs - CLOCK_MARGIN_MS, notAfterMs: nowMs + LIFE_MS };
  const authority = await issueAuthority({ commonName: COMMON_NAME }, validity);
  const request = { subject: { commonName: COMMON_NAME }, use: 'server', dnsNames: serverNames, ipAddresses: ['127.0.0.1'] } as const;
  return { authority: authority.cert, serving: await issueLeaf(authority, request, validity) };
}
