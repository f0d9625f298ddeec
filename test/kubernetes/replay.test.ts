import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { isObject } from '../../src/base/json.ts';
import { acceptedDifference } from './accepted-differences.ts';
import { ownersIn } from './field-owners.ts';
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
      if (recorded.upgrade) return servers.shake(which, { method, path, headers: recorded.upgrade });
      const content = bytes === undefined ? body && resolve(body, answers[which]) : Buffer.from(bytes, 'base64');
      const { raw, body: said, ...rest } = await servers.ask(which, { method, path, accept: withoutProtobuf(accept), type, body: content });
      answers[which][number] = raw;
      const answer = { ...rest, body: isWatch(path) ? withoutBookmarks(said) : said };
      return type?.includes('apply-patch') ? { ...answer, owners: ownersIn(raw) } : answer;
    }
  });
}

/** A watch of a client lasts; said again it lasts a second. */
function ending(path: string): string {
  if (!isWatch(path)) return path;
  return `${path.replace(/&?timeoutSeconds=\d+/, '')}&timeoutSeconds=1`;
}

function isWatch(path: string): boolean {
  return /[?&]watch=(true|1)/.test(path);
}

/** The events of a watch, without those that a server may send or not. */
function withoutBookmarks(events: unknown): unknown[] {
  return [events].flat().filter((event) => isObject(event) && event['type'] !== 'BOOKMARK');
}

/** Answers in protobuf are the choice of the server: clients that ask for them take JSON, too. */
function withoutProtobuf(accept = '*/*'): string {
  const others = accept.split(',').filter((type) => !type.includes('protobuf'));
  return others.length > 0 ? others.join(',') : accept;
}
