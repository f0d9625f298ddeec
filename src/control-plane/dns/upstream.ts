/** Asks the name server of the host. Nothing is kept: the host has a cache. */
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { encodeQuestion, parseReply, type Reply } from './message.ts';

export type Upstream = (question: { readonly name: string; readonly type: number }) => Promise<Reply | undefined>;

export type UpstreamOptions = { readonly host: string; readonly port?: number; readonly timeoutMs?: number };

/** So many questions are under way at once; more are not asked. */
const MAX_QUESTIONS = 256;
const TRIES = 2;

/** Resolves with undefined when there is no answer. */
export function createUpstream({ host, port = 53, timeoutMs = 2_000 }: UpstreamOptions): Upstream {
  let underWay = 0;
  return async (question) => {
    if (underWay >= MAX_QUESTIONS) return undefined;
    underWay += 1;
    try {
      for (let tries = 0; tries < TRIES; tries++) {
        const reply = await askOnce(question, { host, port, timeoutMs });
        if (reply) return reply;
      }
      return undefined;
    } finally {
      underWay -= 1;
    }
  };
}

/** From a port and with an id that nobody can guess; only what answers this very question from there is believed. */
function askOnce(question: { readonly name: string; readonly type: number }, to: Required<UpstreamOptions>): Promise<Reply | undefined> {
  return new Promise((resolve) => {
    const id = randomInt(65_536);
    const socket = createSocket('udp4');
    const end = (reply: Reply | undefined) => {
      clearTimeout(timer);
      socket.removeAllListeners().on('error', () => {});
      socket.close();
      resolve(reply);
    };
    const timer = setTimeout(() => end(undefined), to.timeoutMs);
    socket.on('error', () => end(undefined));
    socket.on('message', (message, { address, port }) => {
      const reply = address === to.host && port === to.port ? parseReply(message) : undefined;
      if (reply?.id === id && reply.question?.name === question.name && reply.question.type === question.type) end(reply);
    });
    socket.send(encodeQuestion(id, question.name, question.type), to.port, to.host, (error) => {
      if (error) end(undefined);
    });
  });
}
