/** How a guest ends is told apart: by phase, reason, event and LastShutdown, and virtctl why and kubectl describe tell the same. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { EmbeddedCluster } from './harness.ts';

const manifest = readFileSync('examples/vm.yaml', 'utf8');
/** For a guest that is to be cut off: long enough to ask meanwhile what it waits for. */
const GRACE_SECONDS = 6;

/** A machine that stays as it ended: Manual keeps the instance. */
async function started(cluster: EmbeddedCluster, name: string, spec: object = {}): Promise<void> {
  await cluster.must('kubectl', ['create', '-f', '-'], {
    input: manifest.replaceAll(/\bhello\b/g, name).replace('runStrategy: Always', 'runStrategy: Manual'),
  });
  await cluster.must('kubectl', ['patch', 'vm', name, '--type', 'merge', '-p', JSON.stringify({ spec: { template: { spec } } })]);
  await cluster.must('virtctl', ['start', name]);
  await cluster.until(`vm/${name}`, '.status.ready', 'true');
}

/** Types a command that the guest does not come back from. */
async function lastCommand(cluster: EmbeddedCluster, name: string, command: string): Promise<void> {
  await using console = cluster.console(name);
  await console.expect(/guest ready/);
  await console.login();
  console.type(`${command}\n`);
  await console.expect(/\n/);
  await cluster.until(`vm/${name}`, '.status.ready', 'false');
}

type Ending = { readonly phase: string; readonly reason: string; readonly lastShutdown: string; readonly event: RegExp };

/** Everybody tells the same story. */
async function assertEnding(cluster: EmbeddedCluster, name: string, { phase, reason, lastShutdown, event }: Ending): Promise<void> {
  await cluster.until(`vmi/${name}`, '.status.phase', phase);
  assert.equal(await cluster.field('vmi', name, '.status.reason'), reason);
  const condition = '.status.conditions[?(@.type=="LastShutdown")]';
  await cluster.until(`vm/${name}`, `${condition}.reason`, lastShutdown);
  const message = await cluster.field('vm', name, `${condition}.message`);
  const described = await cluster.must('kubectl', ['describe', 'vm', name]);
  assert.ok(described.includes(message), described);
  assert.match(await cluster.must('kubectl', ['describe', 'vmi', name]), event);
  const why = await cluster.must('virtctl', ['why', name]);
  assert.ok(why.includes(`${lastShutdown}, ${message}`), why);
}

test('guests that end in every way', async (t: TestContext) => {
  await using cluster = await EmbeddedCluster.start();

  await t.test('a guest that reboots keeps its instance, its QEMU and its address', async () => {
    await started(cluster, 'reboots');
    await using console = cluster.console('reboots');
    await console.expect(/guest ready/);
    const facts = () => cluster.field('vmi', 'reboots', '.metadata.uid} {.status.phase} {.status.interfaces[0].ipAddress');
    const [before, pids] = [await facts(), cluster.guestPids()];
    await console.login();
    console.type('reboot\n');
    await console.expect(/guest ready/);
    assert.deepEqual([await facts(), cluster.guestPids()], [before, pids]);
    await cluster.must('kubectl', ['delete', 'vm', 'reboots', '--wait=false']);
  });

  await t.test('a guest that powers off has succeeded', async () => {
    await started(cluster, 'powers-off');
    await lastCommand(cluster, 'powers-off', 'poweroff');
    await assertEnding(cluster, 'powers-off', {
      phase: 'Succeeded',
      reason: '',
      lastShutdown: 'GuestShutdown',
      event: /Normal +Stopped .*virt-handler +The guest was shut down/,
    });
  });

  await t.test('a guest that panics has failed', async () => {
    await started(cluster, 'panics');
    await lastCommand(cluster, 'panics', 'echo c > /proc/sysrq-trigger');
    await assertEnding(cluster, 'panics', {
      phase: 'Failed',
      reason: 'GuestPanicked',
      lastShutdown: 'GuestPanicked',
      event: /Warning +GuestPanicked .*virt-handler +The guest panicked/,
    });
  });

  await t.test('a guest whose QEMU is killed has crashed', async () => {
    const others = cluster.guestPids();
    await started(cluster, 'crashes');
    const [pid = 0] = cluster.guestPids().filter((each) => !others.includes(each));
    process.kill(pid, 'SIGKILL');
    await assertEnding(cluster, 'crashes', {
      phase: 'Failed',
      reason: 'QEMUExited',
      lastShutdown: 'QEMUExited',
      event: /Warning +Stopped .*virt-handler +The guest crashed/,
    });
  });

  await t.test('a guest that its watchdog gives up has hung', async () => {
    await started(cluster, 'hangs', { domain: { devices: { watchdog: { name: 'dog', i6300esb: { action: 'poweroff' } } } } });
    await lastCommand(cluster, 'hangs', startWatchdog);
    await assertEnding(cluster, 'hangs', {
      phase: 'Failed',
      reason: 'GuestHung',
      lastShutdown: 'GuestHung',
      event: /Warning +GuestHung .*virt-handler +The guest did not speak to its watchdog/,
    });
  });

  await t.test('a QEMU that hangs is told while it does, and forgotten when it goes on', async () => {
    const others = cluster.guestPids();
    await started(cluster, 'stuck');
    const [pid = 0] = cluster.guestPids().filter((each) => !others.includes(each));
    const unresponsive = '.status.conditions[?(@.type=="Unresponsive")].status';
    process.kill(pid, 'SIGSTOP');
    try {
      await cluster.until('vm/stuck', unresponsive, 'True');
      assert.match(await cluster.must('virtctl', ['why', 'stuck']), /QEMU of stuck hangs/);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await cluster.until('vmi/stuck', '.status.phase', 'Running');
    while ((await cluster.field('vm', 'stuck', unresponsive)) !== '') await new Promise((resolve) => setTimeout(resolve, 100));
    assert.match(await cluster.must('virtctl', ['why', 'stuck']), /nothing blocks: stuck is running/);
  });

  await t.test('a guest that ignores the power button is cut off exactly at its grace period', async () => {
    await started(cluster, 'ignores', { terminationGracePeriodSeconds: GRACE_SECONDS });
    await using console = cluster.console('ignores');
    await console.expect(/guest ready/);
    await console.login();
    await console.command('killall acpid');
    const pids = cluster.guestPids();
    await cluster.must('virtctl', ['stop', 'ignores']);
    // It is asked a moment after the command, and gone when its time is over.
    let why = '';
    for (let tries = 0; tries < 20 && !/ago, grace period|GracePeriodExpired/.test(why); tries += 1)
      why = await cluster.must('virtctl', ['why', 'ignores']);
    assert.match(why, new RegExp(`asked \\d+s ago, grace period ${GRACE_SECONDS}s`), 'while it is being stopped');
    await cluster.until('vm/ignores', '.status.conditions[?(@.type=="LastShutdown")].reason', 'GracePeriodExpired');
    await cluster.untilGone('vmi/ignores');
    assert.equal(cluster.guestPids().length, pids.length - 1);
    const events = JSON.parse(
      await cluster.must('kubectl', ['get', 'events', '--field-selector', 'involvedObject.name=ignores', '-o', 'json']),
    );
    const at = (reason: string) =>
      Date.parse(
        events.items.find(
          (each: { reason: string; involvedObject: { kind: string } }) =>
            each.reason === reason && each.involvedObject.kind === 'VirtualMachineInstance',
        ).lastTimestamp,
      );
    const seconds = (at('Deleted') - at('ShuttingDown')) / 1000;
    assert.ok(seconds >= GRACE_SECONDS - 1 && seconds <= GRACE_SECONDS + 2, `cut off after ${seconds} s`);
    assert.match(await cluster.must('virtctl', ['why', 'ignores']), /GracePeriodExpired, .*did not power off in time and was cut off/);
  });

  await t.test('a guest that is paused when it is to stop is let run, hears its power button, and is not paused again', async () => {
    await started(cluster, 'stands');
    await using console = cluster.console('stands');
    await console.expect(/guest ready/);
    await cluster.must('virtctl', ['pause', 'vm', 'stands']);
    await cluster.until('vm/stands', '.status.printableStatus', 'Paused');
    await cluster.must('virtctl', ['stop', 'stands']);
    await cluster.until('vm/stands', '.status.conditions[?(@.type=="LastShutdown")].reason', 'Requested');
  });

  await t.test('a guest that starts paused waits, is not ready, and goes on when told to', async () => {
    await cluster.must('kubectl', ['create', '-f', '-'], {
      input: manifest.replaceAll(/\bhello\b/g, 'waits').replace('runStrategy: Always', 'runStrategy: Manual'),
    });
    await cluster.must('virtctl', ['start', 'waits', '--paused']);
    await cluster.until('vm/waits', '.status.printableStatus', 'Paused');
    assert.equal(await cluster.field('vmi', 'waits', '.status.conditions[?(@.type=="Paused")].reason'), 'PausedByUser');
    const gate = '.status.conditions[?(@.type=="kubevirt.io/virtual-machine-unpaused")].status';
    const pod = (await cluster.must('kubectl', ['get', 'pods', '-l', 'vm.kubevirt.io/name=waits', '-o', 'name'])).trim();
    await cluster.until(pod, gate, 'False');
    assert.equal(await cluster.field('vm', 'waits', '.status.ready'), 'false');
    await cluster.must('virtctl', ['unpause', 'vm', 'waits']);
    await cluster.until('vm/waits', '.status.ready', 'true');
    assert.equal(await cluster.field('vmi', 'waits', '.status.conditions[?(@.type=="Paused")].status'), '');
    await cluster.must('virtctl', ['pause', 'vm', 'waits']);
    await cluster.until('vm/waits', '.status.ready', 'false');
    await cluster.until('vm/waits', '.status.printableStatus', 'Paused');
  });
});

/**
 * What a driver of the 6300ESB does when it opens the device and is never heard of again, by hand: our small guest has no driver for it.
 * Enable the card, unlock its timers twice (80h, 86h at offset 0Ch), set both to the shortest time, start it (bit 1 of config byte 68h).
 */
const startWatchdog = [
  'D=$(dirname $(grep -l 0x25ab /sys/bus/pci/devices/*/device))',
  'echo 1 > $D/enable',
  'B=$(head -n1 $D/resource | cut -d" " -f1)',
  'u() { devmem $((B+12)) 16 0x80; devmem $((B+12)) 16 0x86; }',
  'u; devmem $B 32 1; u; devmem $((B+4)) 32 1',
  "printf '\\002' | dd of=$D/config bs=1 seek=104 conv=notrunc",
].join('; ');
