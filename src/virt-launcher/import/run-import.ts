/** virt-importer: fills the PVC that its Pod mounts with what its Pod says, and tells whoever asks how far it is. */
import { constants, openSync } from 'node:fs';
import { createServer } from 'node:http';
import {
  IMPORT_ADDRESS_VARIABLE,
  IMPORT_PORT,
  IMPORT_VARIABLE,
  type ImportProgress,
  type ImportTask,
  SOURCE_MOUNT,
  TARGET_MOUNT,
} from '../../api/importer/importer-pod.ts';
import { UPLOAD_AUTHORITY_VARIABLE } from '../../api/importer/upload.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf, UserError } from '../../base/errors.ts';
import { createLogger } from '../../base/log.ts';
import { sandboxPath } from '../../base/node/sandbox-path.ts';
import { explainSystemError } from '../../base/node/system-error.ts';
import { tenantFetch } from '../../images/guarded-fetch.ts';
import { openContainerDisk } from '../container-disk.ts';
import { stepDown } from '../privileges.ts';
import { type FillOptions, fillClaim } from './fill-claim.ts';
import { receiveUpload } from './receive-upload.ts';

export type ImporterOptions = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly report: (line: string) => void;
};

/** Resolves when the PVC is filled. */
export async function runImport({ env, clock, signal, report }: ImporterOptions): Promise<void> {
  const task = taskIn(env);
  const place = stepIn(env, task);
  // An upload is not taken before its door is open: until then nobody is told anything.
  let progress: ImportProgress | undefined = task.from === 'upload' ? undefined : { doneBytes: 0 };
  const server = serveProgress(env[IMPORT_ADDRESS_VARIABLE], () => progress, report);
  try {
    await fillClaim({
      task,
      ...place,
      fetch: task.from === 'http' ? tenantFetch(task.url) : refuseAll,
      searchPath: env['PATH'],
      clock,
      signal,
      onNote: report,
      onProgress: (next) => {
        progress = next;
      },
      receive: (into) =>
        receiveUpload({
          ...into,
          host: env[IMPORT_ADDRESS_VARIABLE] ?? '',
          authority: env[UPLOAD_AUTHORITY_VARIABLE] ?? '',
          clock,
          log: createLogger({ write: report, level: 'info', now: () => clock.now() }),
          signal,
          onState: ({ receivedBytes, totalBytes, failure }) => {
            progress = {
              doneBytes: receivedBytes,
              ...(totalBytes !== undefined && { totalBytes }),
              ...(failure !== undefined && { failure }),
            };
          },
        }),
    });
    report('the volume is filled');
  } catch (error) {
    throw explainSystemError(error) ?? error;
  } finally {
    server?.close();
  }
}

/**
 * Embedded and started as root, only root gets to the folders of volumes and images. So they are opened by root, and everything else is done
 * as the user of the Pod: in the folder of the PVC, which qemu-img and xz begin in, too.
 */
function stepIn(env: ImporterOptions['env'], task: ImportTask): Pick<FillOptions, 'folder' | 'sourceFolder' | 'mountedDisk'> {
  const privileges = stepDown(env);
  const source = sandboxPath(SOURCE_MOUNT.mountPath, env);
  const place = privileges.asRoot(() => {
    process.chdir(sandboxPath(TARGET_MOUNT.mountPath, env));
    if (task.from === 'registry' && task.isMounted) return { mountedDisk: openContainerDisk(source) };
    return task.from === 'pvc' ? { sourceFolder: `/proc/self/fd/${openSync(source, constants.O_RDONLY | constants.O_DIRECTORY)}` } : {};
  });
  privileges.dropForGood();
  return { folder: '.', ...place };
}

function taskIn(env: ImporterOptions['env']): ImportTask {
  const json = env[IMPORT_VARIABLE];
  if (!json)
    throw new UserError('USAGE', `${IMPORT_VARIABLE} is not set`, { why: 'virt-importer is started by virt-controller', exitCode: 2 });
  return JSON.parse(json) as ImportTask; // as virt-controller writes it
}

async function refuseAll(): Promise<Response> {
  throw new Error('nothing is to be fetched');
}

/** Only at the address of the Pod; without one, nobody is told. */
function serveProgress(host: string | undefined, progress: () => ImportProgress | undefined, report: (line: string) => void) {
  if (!host) return undefined;
  const server = createServer((_, response) => response.setHeader('connection', 'close').end(JSON.stringify(progress() ?? {})));
  server.on('error', (error) => report(`nobody can ask how far it is: ${messageOf(error)}`));
  server.unref();
  return server.listen(IMPORT_PORT, host);
}
