/** Ten thousand machines in a real browser: how quick it is says `npm run bench -- ui`, here is that it works. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VMS } from '../../src/api/kubevirt/kinds/virtual-machine.ts';
import { openPage, startBrowser, whyNoBrowser } from '../e2e/browser.ts';
import { startPageOfMachines } from './page-of-machines.ts';

const COUNT = 10_000;

test('of ten thousand machines those are drawn that can be seen, and each is found', {
  skip: whyNoBrowser ?? false,
  timeout: 300_000,
}, async () => {
  const [served, browser] = await Promise.all([startPageOfMachines(COUNT), startBrowser()]);
  try {
    const page = await openPage(browser, served.link());
    const list = page.getByRole('region', { name: 'List of machines' });
    await page.getByRole('heading', { name: `Machines ${COUNT}` }).waitFor();
    const drawn = () => list.getByRole('row').count();
    assert.ok((await drawn()) < 100);

    const heights = () =>
      list.locator('tr[data-machine]').evaluateAll((rows) => [...new Set(rows.map((row) => row.getBoundingClientRect().height))]);
    assert.deepEqual(await heights(), [52]); // what the places of rows that are not drawn are counted by

    await list.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    await page.getByRole('link', { name: 'vm-09999', exact: true }).waitFor();
    assert.ok((await drawn()) < 100);
    await list.evaluate((element) => element.scrollTo(0, element.scrollHeight / 2));
    await page.getByRole('link', { name: 'vm-05000', exact: true }).waitFor();
    assert.deepEqual(await heights(), [52]);

    await page.getByRole('searchbox').fill('vm-0777 running');
    await page.getByRole('heading', { name: `Machines 1 of ${COUNT}` }).waitFor();
    await page.getByRole('link', { name: 'vm-07770', exact: true }).waitFor();
    await page.getByRole('searchbox').fill('');
    await page.getByRole('heading', { name: `Machines ${COUNT}`, exact: true }).waitFor();

    await served.client.delete(VMS, { namespace: 'default', name: 'vm-00001' });
    await page.getByRole('heading', { name: `Machines ${COUNT - 1}` }).waitFor();
  } finally {
    await browser.close();
    await served[Symbol.asyncDispose]();
  }
});
