import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { acceptedDifference } from './accepted-differences.ts';
import { kubernetesSkipReason } from './kubernetes-skip-reason.ts';
import { parse, type Recorded, resolve } from './recording.ts';
import { TwoServers, type Which } from './two-servers.ts';

const FOLDER = join(import.meta.dirname, 'recorded');

for (const file of readdirSync(FOLDER).sort()) {
  describe(`what ${file.replace(/\.jsonl$/, '')} said is answered as by a real Kubernetes`, {
    skip: kubernetesSkipReason(),
    concurrency: 1,
  }, () => {
    const answers: Record<Which, unknown[]> = { real: [], ours: [] };
    let servers: TwoServers;
    before(async () => {
      servers = await TwoServers.start();
      if (file === 'virtctl.jsonl') await servers.install('deploy/crds');
    });
    after(async () => {
      await servers?.[Symbol.asyncDispose]();
    });

    for (const [number, recorded] of parse(readFileSync(join(FOLDER, file), 'utf8')).entries()) {
      const difference = acceptedDifference(recorded);
      const title = `${number}: ${recorded.method} ${recorded.path.slice(0, 120)}`;
      test(difference ? `${title} (${difference.only}: ${difference.because})` : title, async () => {
        const [real, ours] = [await say('real', recorded, number), await say('ours', recorded, number)];
        if (recorded.path.startsWith('/apis/apiextensions')) await servers.definitionsAreServed();
        if (difference?.only === 'not compared') return;
        if (difference?.only === 'code') assert.equal(ours.code, real.code);
        else assert.deepEqual(ours, real);
      });
    }

    async function say(which: Which, recorded: Recorded, number: number) {
      const { method, accept, type, body, bytes } = recorded;
      const path = ending(resolve(recorded.path, answers[which]));
      const content = bytes === undefined ? body && resolve(body, answers[which]) : Buffer.from(bytes, 'base64');
      const { raw, ...answer } = await servers.ask(which, { method, path, accept: withoutProtobuf(accept), type, body: content });
      answers[which][number] = raw;
      return answer;
    }
  });
}

/** A watch of a client lasts; said again it lasts a second. */
function ending(path: string): string {
  if (!/[?&]watch=(true|1)/.test(path)) return path;
  return `${path.replace(/&?timeoutSeconds=\d+/, '')}&timeoutSeconds=1`;
}

/** Answers in protobuf are the choice of the server: clients that ask for them take JSON, too. */
function withoutProtobuf(accept = '*/*'): string {
  const others = accept.split(',').filter((type) => !type.includes('protobuf'));
  return others.length > 0 ? others.join(',') : accept;
}
