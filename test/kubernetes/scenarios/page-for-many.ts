/** The web page as a Pod of the cluster: somebody signs in through a port-forward with a token, sees the machines that he may, and types into one. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { openPage, startBrowser, whyNoBrowser } from '../../e2e/browser.ts';
import { signIn, typeIntoConsole } from '../../e2e/page-steps.ts';
import { COMPONENT_IMAGE } from '../product-cluster.ts';
import type { World } from './world.ts';

const MANIFEST = resolve(import.meta.dirname, '../../../deploy/virt-ui.yaml');

export function pageForManyScenarios(shared: World): void {
  const world = shared.in('page');
  const system = shared.in('kubevirt');

  describe('the web page as a Pod', { skip: whyNoBrowser ?? false }, () => {
    before(async () => {
      await world.makeNamespace();
      await world.apply(world.machine('typed'), ...pageObjects());
      await world.kubectl('create', 'serviceaccount', 'ada');
      await world.kubectl('create', 'rolebinding', 'ada', '--clusterrole=kubevirt.io:edit', '--serviceaccount=page:ada');
      await system.kubectl('rollout', 'status', 'deployment/virt-ui', '--timeout=400s');
      await world.untilReady('typed');
    });
    after(async () => {
      await system.kubectl('delete', 'deployment/virt-ui', 'service/virt-ui', 'serviceaccount/virt-ui', '--timeout=400s');
      await shared.kubectl('delete', 'namespace', 'page', '--timeout=400s');
    });

    test('who has a token signs in, sees his machines, and types into one', async () => {
      await using forwarded = await forwardPage(shared);
      const browser = await startBrowser();
      try {
        const page = await openPage(browser, forwarded.origin);
        await signIn(page, await world.kubectl('create', 'token', 'ada'));
        await page.getByRole('heading', { name: 'Which namespace?' }).waitFor(); // not the one that virt-ui begins with
        await page.getByLabel('Namespace').fill('page');
        await page.getByRole('button', { name: 'Show it' }).click();
        await page.getByText('system:serviceaccount:page:ada').waitFor();
        await page.getByRole('row', { name: /typed/ }).getByText('Running').waitFor();
        await page.getByRole('row', { name: /typed/ }).getByRole('link', { name: 'Console' }).click();
        await typeIntoConsole(page);
      } finally {
        await browser.close();
      }
    });
  });
}

/** As they are delivered, with the image that was built here. */
function pageObjects(): object[] {
  const documents = parseAllDocuments(readFileSync(MANIFEST, 'utf8')).map((document) => document.toJSON() as object);
  return JSON.parse(JSON.stringify(documents), (key, value) => (key === 'image' ? COMPONENT_IMAGE : value));
}

async function forwardPage({ cluster }: World): Promise<AsyncDisposable & { readonly origin: string }> {
  const args = ['-n', 'kubevirt', 'port-forward', 'service/virt-ui', ':80'];
  const child = spawn(join(cluster.programs, 'kubectl'), args, {
    env: { ...process.env, KUBECONFIG: cluster.kubeconfig },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const line = once(createInterface(child.stdout), 'line') as Promise<[string]>;
  const [said] = await Promise.race([line, ended.then(() => Promise.reject(new Error('kubectl port-forward ended')))]);
  const port = /127\.0\.0\.1:(\d+)/.exec(said)?.[1];
  return {
    origin: `http://localhost:${port}`,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
