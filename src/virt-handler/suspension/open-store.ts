/** The way of a guest's memory to the Pod that has the PVC: from a socket beside QEMU, to the one at which that Pod listens. */
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { podPath, podVolumePath } from '../../api/core/pod-folder-layout.ts';
import { OUTGOING_SOCKETS } from '../../api/launcher/files.ts';
import { PUBLIC_VOLUME } from '../../api/launcher/mounts.ts';
import { SAVE_SOCKET, type SaveAnswer } from '../../api/launcher/suspension.ts';
import type { Clock } from '../../base/clock.ts';
import { connectUnixSocket } from '../../qemu/qmp/connect-socket.ts';
import { listen } from '../migration/open-way.ts';
import type { OpenStore } from '../vmi/domain-command.ts';
import { machineIn } from './save-guest.ts';

const CONNECT_MS = 30_000;
const RETRY_MS = 50;
const MOST_ANSWER_BYTES = 4096;

type Options = { readonly kubeletRoot: string; readonly folder: string; readonly clock: Clock };

export function storeFrom({ kubeletRoot, folder, clock }: Options): OpenStore {
  return async ({ podUid, qemu, accelerator }) => {
    if (!/^[A-Za-z0-9][A-Za-z0-9-]{0,127}$/.test(podUid)) throw new Error('there is no Pod that could write it');
    const machine = await machineIn(folder);
    const path = join(kubeletRoot, podPath(podUid), podVolumePath('empty-dir', PUBLIC_VOLUME.name), SAVE_SOCKET);
    const pod = await connectToPod(path, clock);
    pod.write(`${JSON.stringify({ machine, qemu, accelerator })}\n`);
    const answer = answerOf(pod);
    answer.catch(() => {}); // whoever waits hears it
    const connections = new Set<Socket>();
    const server = await listen(folder, OUTGOING_SOCKETS.memory, (socket) => {
      connections.add(socket);
      socket.on('error', () => pod.destroy());
      socket.pipe(pod);
    });
    return {
      answer,
      close() {
        server.close();
        for (const socket of connections) socket.destroy();
        pod.destroy();
      },
    };
  };
}

/** Its container runs a moment before it listens. */
export async function connectToPod(path: string, clock: Clock): Promise<Socket> {
  const deadline = clock.steady() + CONNECT_MS;
  for (;;) {
    try {
      return await connectUnixSocket(path);
    } catch (error) {
      if (clock.steady() >= deadline) throw new Error('the Pod that writes it does not listen', { cause: error });
      await clock.sleep(RETRY_MS);
    }
  }
}

function answerOf(pod: Socket): Promise<SaveAnswer> {
  return new Promise((resolve, reject) => {
    let text = '';
    pod.setEncoding('utf8');
    pod.on('data', (chunk: string) => {
      text += chunk;
      if (text.length > MOST_ANSWER_BYTES) pod.destroy();
    });
    pod.on('error', () => {}); // 'close' follows
    pod.once('close', () => {
      try {
        resolve(JSON.parse(text) as SaveAnswer); // looked at by whoever uses it
      } catch (error) {
        reject(new Error('the Pod that writes it has ended', { cause: error }));
      }
    });
  });
}
