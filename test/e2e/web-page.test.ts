import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Locator, Page } from 'playwright-core';
import {
  accessibilityFaults,
  openPage,
  PATIENCE_MS,
  startBrowser,
  startPageForMany,
  startWebPage,
  takePicture,
  type WebPage,
  whyNoBrowser,
} from './browser.ts';
import { EmbeddedCluster } from './harness.ts';
import { assertTextOnly, openPalette, signIn, typeIntoConsole } from './page-steps.ts';
import { uploadByDrop } from './page-uploads.ts';

const skip = whyNoBrowser ?? false;
const isReal = process.env['E2E_REAL_CLUSTER'] !== undefined;
/** Others have machines on a real cluster, and it stays: there a machine is made, entered, seen and deleted; the rest is the same page. */
const skipOnReal = skip || (isReal ? 'it needs a cluster of its own, which it takes down and up again' : false);
const NAME = isReal ? `page-${process.pid}` : 'web';
let cluster: EmbeddedCluster;
let browser: Browser;
/** One `virtctl ui` and one window of the browser that has used its link, for all tests: starting them takes longer than most of what is tested. */
let ui: WebPage;
let page: Page;

before(async () => {
  if (skip) return;
  [cluster, browser] = await Promise.all([EmbeddedCluster.start(), startBrowser()]);
  ui = await startWebPage(cluster);
  page = await openPage(browser, ui.link);
});
after(async () => {
  await browser?.close();
  await ui?.[Symbol.asyncDispose]();
  await cluster?.[Symbol.asyncDispose]();
});

test('a machine is made, entered and seen by whoever has a kubeconfig', { skip }, async () => {
  await page.getByRole('navigation').first().waitFor();
  if (!isReal) {
    await page.getByRole('heading', { name: 'No machines yet' }).waitFor();
    await page.getByRole('link', { name: 'localhost/guests/tiny', exact: true }).waitFor();
    await takePicture(page, 'empty');
    assert.deepEqual(await accessibilityFaults(page), [], 'empty');
  }
  await page.keyboard.press('c');
  await page.getByLabel('Another containerDisk image').fill('localhost/guests/tiny:latest'); // machines of others may use another one more
  await fillInByTurns();
  await takePicture(page, 'create');
  await fitsPhone('create');
  assert.deepEqual(await accessibilityFaults(page), []);
  await enterAndSee();
});

/** Makes and starts what the form says, types into its console and reads the answer, and sees its screen. */
async function enterAndSee(): Promise<void> {
  await page.getByRole('button', { name: 'Create and start' }).click();
  await typeIntoConsole(page);
  await takePicture(page, 'console');
  assert.deepEqual(await accessibilityFaults(page), [], 'console');
  await seenByAll(page);
  await page.getByRole('link', { name: 'Screen' }).click();
  await page.getByText('Connected.').waitFor();
  await page.waitForFunction(() => {
    const canvas = document.querySelector('canvas');
    const pixels = canvas?.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data ?? [];
    return new Set(pixels).size > 2; // something other than black is drawn
  });
  await typeOnScreen();
  await takePicture(page, 'screen');
  assert.deepEqual(await accessibilityFaults(page), [], 'screen');
}

test('every page of it is there, and says what the server says', { skip: skipOnReal }, async () => {
  await page.getByRole('link', { name: 'Logs' }).click();
  await page.getByRole('log').filter({ hasText: '42-is-it' }).waitFor();
  await takePicture(page, 'logs');
  assert.deepEqual(await accessibilityFaults(page), [], 'logs');
  await page.getByRole('link', { name: 'Shell' }).click();
  await page.getByRole('textbox').fill('cd /proc && ls /nowhere'); // by the agent, which comes soon after the guest is up
  await page.keyboard.press('Enter');
  await page.getByText('exit code 1').waitFor();
  await page.getByRole('textbox', { name: '/proc $' }).fill('pwd; cat version');
  await page.keyboard.press('Enter');
  await page.getByRole('log').getByText('Linux version').waitFor();
  await takePicture(page, 'shell');
  assert.deepEqual(await accessibilityFaults(page), [], 'shell');

  await page.getByRole('link', { name: 'Machines' }).click();
  await openPalette(page);
  await page.keyboard.type('open web');
  await page.getByRole('option', { name: /Open web/, selected: true }).waitFor();
  await takePicture(page, 'palette');
  assert.deepEqual(await accessibilityFaults(page), [], 'palette');
  await page.keyboard.press('Enter');
  await page.getByText('web is running').waitFor();
  await page.getByRole('img', { name: /^Memory in the last hour: of its node \d+Mi/ }).waitFor(); // measured by its node
  await page.getByText('As a table').click();
  await page
    .getByRole('region', { name: 'Charts as a table' })
    .getByText(/^\d+Mi$/)
    .first()
    .waitFor();
  await page.getByRole('img', { name: 'Screen of web, opens it' }).waitFor();
  for (const step of ['QEMU runs', 'First serial output', 'Login prompt'])
    await page.getByRole('listitem').filter({ hasText: step }).waitFor();
  await isMeasured();
  await takePicture(page, 'overview');
  await fitsPhone('overview');
  assert.deepEqual(await accessibilityFaults(page), [], 'overview');
  await changeWhileItRuns();
  await attachAndDetach();
  await cluster.must('virtctl', ['expose', 'vm', 'web', '--name', 'web', '--port', '80']);
  for (const [tab, shows] of [
    ['Disks & snapshots', 'Nothing is kept of web.'],
    ['Network', 'web.default.svc:80'],
    ['Activity', 'Started'],
    ['YAML', 'VirtualMachine'],
  ] as const) {
    await page.getByRole('link', { name: tab, exact: true }).last().click();
    await page.getByText(shows).first().waitFor();
    await takePicture(page, tab.toLowerCase().replaceAll(/\W+/g, '-'));
    assert.deepEqual(await accessibilityFaults(page), [], tab);
  }
});

test('it is stopped among those that are selected, kept, and deleted', { skip }, async () => {
  await page.getByRole('link', { name: 'Machines', exact: true }).click();
  await machineRow().getByText('Running').waitFor();
  await machineRow()
    .getByRole('img', { name: /^Processors: / })
    .waitFor();
  await takePicture(page, 'machines');
  await fitsPhone('machines');
  assert.deepEqual(await accessibilityFaults(page), []);
  await page.getByRole('checkbox', { name: `Select ${NAME}` }).check();
  await page.getByRole('button', { name: 'Stop the selected machines' }).click();
  await page.getByText(`virtctl stop ${NAME}`).waitFor();
  await takePicture(page, 'bulk');
  assert.deepEqual(await accessibilityFaults(page), [], 'bulk');
  await page.getByRole('dialog').getByRole('button', { name: 'Stop', exact: true }).click();
  await machineRow().getByText('Stopped').waitFor();
  await page.getByRole('button', { name: 'Start again', exact: true }).waitFor(); // it is left stopped
  await page.getByRole('button', { name: 'Close' }).click();

  await page.getByRole('link', { name: NAME, exact: true }).click();
  if (!isReal) await keepAndGoBack();
  await page.getByRole('button', { name: `Delete ${NAME}` }).click();
  if (!isReal)
    await page
      .getByRole('dialog')
      .getByText(/^Lost for good.*restore-/)
      .waitFor();
  assert.deepEqual(await accessibilityFaults(page), [], 'delete');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText(`There is no machine ${NAME}`).waitFor();
});

function machineRow(): Locator {
  return page.getByRole('row', { name: new RegExp(NAME) });
}

/** On the screen of a phone nothing reaches over its edge, every menu is there, and there is a picture of it. */
async function fitsPhone(name: string): Promise<void> {
  const size = page.viewportSize();
  await page.setViewportSize({ width: 390, height: 844 });
  await takePicture(page, `phone-${name}`);
  const over = await page.evaluate(() => {
    const parts = ['html', 'main', '.rows'].flatMap((part) => document.querySelector(part) ?? []);
    return parts.map((each) => each.scrollWidth - each.clientWidth);
  });
  assert.deepEqual(
    over.filter((width) => width > 0),
    [],
    `${name} is wider than a phone`,
  );
  for (const nav of await page.getByRole('navigation').all())
    assert.ok(((await nav.boundingBox())?.height ?? 0) > 30, `${await nav.innerText()}`);
  if (size) await page.setViewportSize(size);
}

/** Form and manifest follow each other; what the server says stands at the field. */
async function fillInByTurns(): Promise<void> {
  const manifest = page.getByRole('textbox', { name: 'Manifest' });
  await page.getByLabel('Name', { exact: true }).fill('Not_A_Name');
  await page.getByRole('alert').filter({ hasText: 'Not_A_Name' }).waitFor();
  await page.getByLabel('Name', { exact: true }).fill(NAME);
  await page.getByRole('alert').waitFor({ state: 'detached' });
  await manifest.getByText(`kubevirt.io/vm: ${NAME}`).waitFor();
  await manifest.getByText('cores: 1').click();
  await page.keyboard.press('End');
  await page.keyboard.type('6');
  await page.waitForFunction(() => document.querySelector<HTMLInputElement>('input[type=number]')?.value === '16');
  await page.keyboard.press('Backspace');
  await page.getByLabel('Memory').fill('200Mi');
  await manifest.getByText('guest: 200Mi').waitFor();
  if (isReal) await page.getByLabel(/^Ephemeral/).check();
  else await page.getByLabel('Size of the disk').fill('1Gi');
  await page.getByRole('button', { name: 'Command' }).click();
  await page
    .getByText(new RegExp(`virtctl run \\S+ --name ${NAME} --memory 200Mi --cpus 1 ${isReal ? '--ephemeral' : '--disk 1Gi'} --detach`))
    .waitFor();
  await page.getByRole('button', { name: 'Manifest' }).click();
  await manifest.waitFor();
}

/** What a browser keeps for itself is sent from a menu, and text key by key. */
async function typeOnScreen(): Promise<void> {
  await page.getByText('Send keys').click();
  assert.deepEqual(await accessibilityFaults(page), [], 'keys of the screen');
  await page.getByRole('button', { name: 'Alt+Tab' }).click();
  await page.getByRole('button', { name: 'Ctrl+Alt+Del' }).waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Type text' }).click();
  await page.getByRole('textbox', { name: 'Text' }).fill('Hello é');
  await page.getByText('It has no key for é').waitFor();
  assert.deepEqual(await accessibilityFaults(page), [], 'text for the screen');
  await page.getByRole('button', { name: 'Type it' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}

/** The cluster shows of web, which runs, what its node sees, whoever entered it, and how it started; and of itself what works. */
async function isMeasured(): Promise<void> {
  const text = await cluster.must('kubectl', ['get', '--raw', '/metrics']);
  const named = 'namespace="default",name="web"';
  for (const series of [
    new RegExp(`^kubevirt_vmi_vcpu_seconds_total\\{node="[^"]+",${named},id="0",state="(running|blocked)"\\} [\\d.]+$`, 'm'),
    new RegExp(`^kubevirt_vmi_memory_resident_bytes\\{node="[^"]+",${named}\\} \\d+$`, 'm'),
    new RegExp(`^kubevirt_vm_disk_allocated_size_bytes\\{${named},persistentvolumeclaim="web-root",.*,device="root"\\} ${2 ** 30}$`, 'm'),
    /^kubevirt_vmi_last_api_connection_timestamp_seconds\{namespace="default",vmi="web"\} \d+$/m,
    /^kubevirt_vm_created_by_pod_total\{namespace="default"\} \d+$/m,
    /^kubevirt_vmi_phase_transition_time_from_creation_seconds_count\{phase="Running"\} \d+$/m,
    /^kubevirt_workqueue_adds_total\{name="virt-handler"\} \d+$/m,
    ...['api', 'controller', 'handler'].map((component) => new RegExp(`^kubevirt_virt_${component}_ready_status 1$`, 'm')),
  ])
    assert.match(text, series);
}

/** The settings of web, which runs: a label is live, processors wait for a restart; then its YAML, while somebody else changes it. */
async function changeWhileItRuns(): Promise<void> {
  const row = (name: string) => page.getByRole('row', { name: new RegExp(`^${name}`) });
  await page.getByRole('link', { name: 'Configuration', exact: true }).click();
  await row('Run strategy').getByText('live').waitFor();
  await row('Processors').getByText('needs restart').waitFor();
  await page.getByLabel('Memory').fill('nonsense');
  await row('Memory').getByRole('alert').waitFor();
  await page.getByRole('button', { name: 'Discard' }).click();
  await page.getByLabel('Processors').fill('2');
  await page.getByLabel('Labels of the machine').fill('tier=front');
  await page.getByText('kubectl patch vm web --type merge').waitFor();
  await page.getByText('The server would take it.').waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await row('Processors').getByText('pending').waitFor();
  await row('Processors').getByText('the running guest has: 1').waitFor();
  assert.equal(await cluster.field('vm', 'web', '.metadata.labels.tier'), 'front');
  await takePicture(page, 'configuration');
  await fitsPhone('configuration');
  assert.deepEqual(await accessibilityFaults(page), [], 'configuration');

  await page.getByRole('link', { name: 'YAML', exact: true }).click();
  const editor = page.getByRole('textbox', { name: 'YAML of web' });
  await editor.getByText('tier: front').click();
  await page.keyboard.press('End');
  await page.keyboard.type('-end');
  await cluster.must('kubectl', ['label', 'vm', 'web', 'by=kubectl']);
  await page.getByRole('button', { name: 'Put mine on top' }).click();
  await editor.getByText('by: kubectl').waitFor();
  await page.getByRole('button', { name: 'Review and save' }).click();
  await page.getByRole('dialog').getByText('tier: front-end').waitFor();
  await takePicture(page, 'diff');
  assert.deepEqual(await accessibilityFaults(page), [], 'diff');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').waitFor();
  assert.equal(await cluster.field('vm', 'web', '.metadata.labels'), '{"by":"kubectl","tier":"front-end"}');
  await editor.getByText('runStrategy: Always').first().click();
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  await page.keyboard.type('inst');
  await page.getByRole('option', { name: /^instancetype/ }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Discard' }).click();
}

/** A disk of its own comes to web, which runs, and goes again. */
async function attachAndDetach(): Promise<void> {
  const dialog = page.getByRole('dialog');
  await page.getByRole('link', { name: 'Disks & snapshots' }).click();
  await page.getByRole('button', { name: /^Detach root: the guest was started with it/ }).waitFor();
  await page.getByRole('button', { name: 'Attach a disk' }).click();
  await dialog.getByLabel('Size of the disk').fill('64Mi');
  await dialog.getByText('virtctl addvolume web --volume-name web-data-1 --persist').waitFor();
  assert.deepEqual(await accessibilityFaults(page), [], 'attach');
  await takePicture(page, 'attach');
  await dialog.getByRole('button', { name: 'Attach', exact: true }).click();
  const row = page.getByRole('row', { name: /^web-data-1/ });
  await row.getByText(/^sd[a-z]$/).waitFor(); // as the guest calls it
  await fitsPhone('disks-of-one');
  await row.getByRole('button', { name: 'Detach web-data-1' }).click();
  await dialog.getByRole('button', { name: 'Detach', exact: true }).click();
  await row.waitFor({ state: 'detached' });
}

/** A snapshot of the machine, which is stopped, is taken, gone back to and deleted; each dialog says the command. */
async function keepAndGoBack(): Promise<void> {
  const dialog = page.getByRole('dialog');
  await page.getByRole('link', { name: 'Disks & snapshots' }).click();
  await page.getByRole('button', { name: 'Take a snapshot' }).click();
  await dialog.getByLabel('Name').fill('before');
  await dialog.getByText(`virtctl snapshot ${NAME} before`).waitFor();
  assert.deepEqual(await accessibilityFaults(page), [], 'snapshot');
  await dialog.getByRole('button', { name: 'Take a snapshot' }).click();
  await page
    .getByRole('row', { name: /before/ })
    .getByText('Succeeded')
    .waitFor();
  await page.getByRole('button', { name: 'Restore before', exact: true }).click();
  await dialog.getByText(`virtctl rollback ${NAME} before`).waitFor();
  assert.deepEqual(await accessibilityFaults(page), [], 'restore');
  await dialog.getByRole('button', { name: 'Restore' }).click();
  await dialog.waitFor({ state: 'detached' });
  await cluster.must('kubectl', ['wait', 'vmrestore', '--all', '--for=jsonpath={.status.complete}=true', '--timeout=240s']);
  await takePicture(page, 'snapshots');
  assert.deepEqual(await accessibilityFaults(page), [], 'snapshots');
  await page.getByRole('button', { name: 'Delete before' }).click();
  await dialog.getByText('kubectl delete vmsnapshot before').waitFor();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByText(`Nothing is kept of ${NAME}.`).waitFor();
}

/** The console of the machine, which the first browser has: another one and virtctl read along, whatever is printed is text, and the turn is taken over. */
async function seenByAll(first: Page): Promise<void> {
  await using other = await startWebPage(cluster);
  const second = await openPage(browser, other.link); // it shares nothing with the first, as the one of somebody else
  await second.getByRole('navigation').first().waitFor();
  await second.goto(`${other.origin}${new URL(first.url()).pathname}`);
  await second.locator('.xterm-rows', { hasText: '42-is-it' }).waitFor(); // what was printed before
  await using inTerminal = cluster.console(NAME);
  await inTerminal.expect(/42-is-it/); // who comes has the turn
  const takeTurn = async (page: Page) => {
    await page.getByRole('button', { name: 'Take over' }).click();
    await page.getByText('Connected.').waitFor();
  };
  await takeTurn(first);
  const hostile = '<img src=x onerror=alert(1)>';
  await first.locator('.xterm-helper-textarea').pressSequentially(`printf '\\033]0;gone\\007${hostile}'; echo $((6*111))-all\n`);
  for (const page of [first, second]) {
    await page.locator('.xterm-rows', { hasText: '666-all' }).waitFor();
    assert.equal(await page.title(), `${NAME} · console`);
    assert.equal(await page.locator('.terminal-place img').count(), 0);
  }
  await inTerminal.expect(/666-all/);
  await takeTurn(second);
  await second.locator('.xterm-helper-textarea').pressSequentially('echo $((7*111))-second\n');
  await first.locator('.xterm-rows', { hasText: '777-second' }).waitFor();
  await inTerminal.expect(/777-second/);
  await second.context().close();
}

/** Of the same browser, which the page knows. */
async function anotherWindow(address: string): Promise<Page> {
  const window = await page.context().newPage();
  window.setDefaultTimeout(PATIENCE_MS);
  await window.goto(address);
  return window;
}

async function ownLink(): Promise<string> {
  const [link = ''] = /http:\S+$/m.exec(await cluster.must('virtctl', ['up'])) ?? [];
  return link;
}

test('without a mouse a machine is made, started, entered, left and deleted', { skip: skipOnReal }, async () => {
  await page.goto(ui.origin);
  const { keyboard } = page;
  const tabTo = async (wanted: Locator) => {
    for (let pressed = 0; pressed < 60; pressed++) {
      if (await wanted.evaluate((element) => element === document.activeElement)) return;
      await keyboard.press('Tab');
    }
    assert.fail(`Tab does not lead to ${wanted}`);
  };
  await page.getByRole('navigation').first().waitFor();
  await keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Skip to content');
  await keyboard.press('c');
  await tabTo(page.getByLabel('Name', { exact: true }));
  await keyboard.press('Control+a');
  await keyboard.type('keys');
  await tabTo(page.getByLabel('Start it'));
  await keyboard.press('Space');
  await tabTo(page.getByRole('button', { name: 'Create', exact: true }));
  await keyboard.press('Enter');
  await page.getByRole('button', { name: 'Start keys', exact: true }).waitFor();
  // it is deleted before its guest is up, and would not hear that it is to power off
  const patch = JSON.stringify({ spec: { template: { spec: { terminationGracePeriodSeconds: 0 } } } });
  await cluster.must('kubectl', ['patch', 'vm', 'keys', '--type', 'merge', '-p', patch]);
  const command = async (text: string) => {
    await openPalette(page);
    await keyboard.type(text);
    await page.getByRole('option', { name: new RegExp(text, 'i'), selected: true }).waitFor();
    await keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Commands' }).waitFor({ state: 'detached' });
  };
  await command('start keys');
  await command('console of keys');
  await page.getByText('Connected.').waitFor();
  await page.waitForFunction(() => document.activeElement?.closest('.terminal') != null);
  await keyboard.press('Tab'); // the guest's
  assert.ok(await page.evaluate(() => document.activeElement?.closest('.terminal') != null));
  await keyboard.press('Shift+Escape');
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Console');
  await command('delete keys');
  await tabTo(page.getByRole('dialog').getByRole('button', { name: 'Delete' }));
  await keyboard.press('Enter');
  await page.getByText('There is no machine keys').waitFor();
});

test('who may only look signs in with a token, sees machines, and is told why he cannot change them', { skip: skipOnReal }, async () => {
  const kubectl = (...args: string[]) => cluster.must('kubectl', args);
  await kubectl('create', 'serviceaccount', 'viewer');
  await kubectl('create', 'namespace', 'team');
  await kubectl('create', 'rolebinding', 'viewer', '-n', 'team', '--clusterrole=kubevirt.io:view', '--serviceaccount=default:viewer');
  await kubectl('create', 'rolebinding', 'viewer', '--clusterrole=kubevirt.io:view', '--serviceaccount=default:viewer');
  const input = await cluster.must('virtctl', ['create', 'vm', '--name', 'shown', '--run-strategy', 'Halted']);
  await cluster.must('kubectl', ['create', '-f', '-'], { input });
  await using ui = await startPageForMany(cluster);
  const page = await openPage(browser, ui.link); // another browser
  await signIn(page, (await kubectl('create', 'token', 'viewer')).trim());
  await showNamespace(page, { from: 'default', to: 'team' });
  await page.getByRole('heading', { name: 'No machines yet' }).waitFor();
  assert.deepEqual(await accessibilityFaults(page), [], 'another namespace');
  await showNamespace(page, { from: 'team', to: 'default' });
  await page.getByText('Only namespace default').waitFor();
  await page.getByText('system:serviceaccount:default:viewer').waitFor();
  await page.getByRole('button', { name: 'Start shown: you may not start machines in default' }).waitFor();
  await takePicture(page, 'view-only');
  assert.deepEqual(await accessibilityFaults(page), [], 'view only');
  await page.getByRole('link', { name: 'shown', exact: true }).click();
  for (const action of ['start', 'stop', 'restart', 'delete']) {
    const button = page.getByRole('button', { name: `you may not ${action} machines in default` });
    assert.equal(await button.getAttribute('aria-disabled'), 'true', action);
  }
  await page.getByRole('link', { name: 'Console', exact: true }).click();
  for (const [part, what] of [
    ['Serial', 'open consoles'],
    ['Screen', 'see screens'],
    ['Shell', 'run commands in guests'],
    ['Logs', 'read logs'],
  ] as const) {
    await page.getByRole('link', { name: part, exact: true }).click();
    await page
      .getByRole('alert')
      .filter({ hasText: `You may not ${what} of machines in default.` })
      .waitFor();
  }
  assert.deepEqual(await accessibilityFaults(page), [], 'refused console');
  await page.keyboard.press('s');
  await page.getByRole('alert').filter({ hasText: 'Cannot start shown: you may not start machines in default' }).waitFor();
  assert.deepEqual(await accessibilityFaults(page), [], 'refused key');
  await page.keyboard.press('c');
  await page.getByRole('alert').filter({ hasText: 'you may not create machines in default' }).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Token of your account').waitFor();
  await page.goto(`${ui.origin}/ns/default/vm/shown`);
  await page.getByLabel('Token of your account').waitFor();
  await kubectl('delete', 'vm', 'shown');
});

/** On the page of who may not see all: the one that is shown is chosen by its name. */
async function showNamespace(page: Page, { from, to }: { readonly from: string; readonly to: string }): Promise<void> {
  await page.getByText(`Only namespace ${from}`).click();
  await page.getByRole('textbox', { name: 'Namespace', exact: true }).fill(to);
  await page.getByRole('button', { name: 'Show it' }).click();
  await page.getByText(`Only namespace ${to}`).waitFor();
}

test('in the dark every page can be read, nodes are listed, and what others wrote is text', { skip: skipOnReal }, async () => {
  const hostile = '<img src=x onerror=alert(1)>\u202e\u001b[2J';
  const about = { namespace: 'default', kind: 'VirtualMachine', name: 'dark' };
  const event = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'hostile' },
    involvedObject: about,
    reason: `Said${hostile}`,
    message: hostile,
    type: 'Warning',
  };
  await cluster.must('kubectl', ['create', '-f', '-'], { input: JSON.stringify(event) });
  const input = await cluster.must('virtctl', ['create', 'vm', '--name', 'dark', '--run-strategy', 'Halted']);
  await cluster.must('kubectl', ['create', '-f', '-'], { input });
  await cluster.must('kubectl', ['annotate', 'vm', 'dark', `note=${hostile}`]);
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.goto(ui.origin);
  page.on('dialog', () => assert.fail('what somebody wrote was run'));
  await page.getByRole('link', { name: 'dark', exact: true }).click();
  for (const name of ['Configuration', 'Disks & snapshots', 'Network', 'YAML', 'Activity', 'Overview']) {
    await page.getByRole('navigation', { name: 'Parts of dark' }).getByRole('link', { name, exact: true }).click();
    await page.getByRole('status').filter({ hasText: 'Loading' }).waitFor({ state: 'detached' });
    assert.deepEqual(await accessibilityFaults(page), [], name);
    await takePicture(page, `dark-${name.toLowerCase().replaceAll(/\W+/g, '-')}-of-one`);
    if (name === 'Activity') await page.getByText('Said<img src=x onerror=alert(1)>\\u202e\\u001b[2J').waitFor();
    if (name === 'YAML') await page.locator('.cm-line', { hasText: 'note: "<img src=x onerror=alert(1)>' }).waitFor();
    await assertTextOnly(page, name);
  }
  await page.keyboard.press('c');
  await page.getByRole('heading', { name: 'Create a machine' }).waitFor();
  assert.deepEqual(await accessibilityFaults(page), [], 'create');
  await page.getByRole('link', { name: 'Machines', exact: true }).click(); // where single letters are not for a field
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor();
  assert.deepEqual(await accessibilityFaults(page), [], 'keys');
  await page.keyboard.press('Escape');
  await page.keyboard.press('g');
  await page.keyboard.press('i');
  await importAndDelete();
  await uploadByDrop(page, cluster, fitsPhone);
  for (const name of ['Nodes', 'Activity', 'Images', 'Machines']) {
    await page.getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { name }).first().waitFor();
    if (name === 'Nodes') await page.getByRole('row', { name: /api https:.* answered in/ }).waitFor(); // what doctor finds
    assert.deepEqual(await accessibilityFaults(page), [], name);
    await assertTextOnly(page, name);
    await takePicture(page, `dark-${name.toLowerCase()}`);
    await fitsPhone(name.toLowerCase());
  }
});

/** On the page of images: what cannot be fetched says why, and is deleted. */
async function importAndDelete(): Promise<void> {
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Import from an address' }).click();
  await dialog.getByLabel('Address').fill('http://127.0.0.1:9/Debian_12.qcow2');
  assert.equal(await dialog.getByLabel('Name', { exact: true }).inputValue(), 'debian-12');
  await dialog.getByLabel('Size of the disk').fill('64Mi');
  assert.deepEqual(await accessibilityFaults(page), [], 'import');
  await takePicture(page, 'dark-import');
  await dialog.getByRole('button', { name: 'Import', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('row', { name: /debian-12/ }).waitFor();
  assert.deepEqual(await accessibilityFaults(page), [], 'disks');
  await takePicture(page, 'dark-disks');
  await fitsPhone('disks');
  await page.getByRole('button', { name: 'Delete debian-12' }).click();
  await dialog.getByText('kubectl delete dv debian-12').waitFor();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('row', { name: /debian-12/ }).waitFor({ state: 'detached' });
}

test('a link lets one browser in, once', { skip }, async () => {
  const second = await openPage(browser, ui.link);
  assert.match(await second.content(), /this link was used/);
});

test('a cluster that is killed is said, and seen again without a reload when it is back; its own page knows its browsers then', {
  skip: skipOnReal,
}, async () => {
  const [byUi, own] = [page, await openPage(browser, await ownLink())];
  await byUi.goto(ui.origin);
  for (const page of [byUi, own]) await page.getByRole('row', { name: /dark/ }).waitFor();
  await byUi.evaluate(() => document.documentElement.setAttribute('data-loaded', 'once'));
  process.kill(cluster.pid(), 'SIGKILL');
  for (const page of [byUi, own]) await page.getByText('what you see may be old').waitFor();
  assert.deepEqual(await accessibilityFaults(byUi), [], 'may be old');
  const late = await anotherWindow(ui.origin); // its server is another program, which is there
  await late.getByText('The cluster does not answer').waitFor();
  assert.deepEqual(await accessibilityFaults(late), [], 'no answer');
  const { origin } = new URL(await ownLink()); // it is up again
  // while it was down another program may have taken the port of its own page, which then is at the next one; the browser is known there as well
  if (new URL(own.url()).origin !== origin) await own.goto(origin);
  const input = await cluster.must('virtctl', ['create', 'vm', '--name', 'afterwards', '--run-strategy', 'Halted']);
  await cluster.must('kubectl', ['create', '-f', '-'], { input });
  for (const page of [byUi, own, late]) {
    await page.getByRole('row', { name: /afterwards/ }).waitFor();
    await page.getByText('what you see may be old').waitFor({ state: 'detached' });
  }
  assert.equal(await byUi.locator('html').getAttribute('data-loaded'), 'once');
});
