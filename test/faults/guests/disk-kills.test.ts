/** A guest writes numbered lines while its disk grows, is kept, brought back, copied and taken away, others come and go, and it is suspended: the cluster, or QEMU, is killed in the middle. */
import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { seededRandom } from '../../../src/control-plane/apiserver/fuzzed-objects.testing.ts';
import { EmbeddedCluster } from '../../e2e/harness.ts';
import { countLines, lineWriter } from './numbered-lines.ts';

/** `npm run test:soak` asks for all of them, many times. */
const KILLS = Number(process.env['DISK_KILLS'] ?? 3);
const SEED = Number(process.env['KILL_SEED'] ?? Date.now() % 1_000_000);
const LONGEST_LIFE_MS = 1_500;
const LOOK_EVERY_MS = 100;
const NAME = 'disk-writer';
const MIB = 2 ** 20;

/** What is begun, and how it has to end, whoever was killed meanwhile. */
type Work = { begin(): Promise<unknown>; end(): Promise<void> };

/** How large a disk on a PVC of so many mebibytes is. */
const diskBytes = (mebibytes: number) => Math.floor(mebibytes * 0.945) * MIB;

class Disks {
  readonly #cluster: EmbeddedCluster;
  #lines = 0;

  constructor(cluster: EmbeddedCluster) {
    this.#cluster = cluster;
  }

  /** The lines on the disk of this PVC; fails when one of them is missing. */
  async linesOn(claim: string): Promise<number> {
    const volume = await this.#cluster.field('pvc', claim, '.spec.volumeName');
    return countLines(join(await this.#cluster.field('pv', volume, '.spec.hostPath.path'), 'disk.img'), NAME);
  }

  resize(round: number): Work {
    const size = 64 + 16 * (round + 1);
    return {
      begin: () => this.#cluster.must('virtctl', ['resize', NAME, `${size}Mi`, '--disk', 'lines']),
      end: () => this.#cluster.until(`vmi/${NAME}`, '.status.volumeStatus[?(@.name=="lines")].size', String(diskBytes(size))),
    };
  }

  snapshot(round: number): Work {
    const spec = { source: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: NAME } };
    return {
      begin: async () => {
        this.#lines = await this.linesOn(NAME);
        await this.#create({
          apiVersion: 'snapshot.kubevirt.io/v1beta1',
          kind: 'VirtualMachineSnapshot',
          metadata: { name: `s${round}` },
          spec,
        });
      },
      end: () => this.#cluster.until(`vmsnapshot/s${round}`, '.status.readyToUse', 'true'),
    };
  }

  restore(round: number): Work {
    const target = { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: `back-${round}` };
    const spec = { target, virtualMachineSnapshotName: `s${round}` };
    return {
      begin: () =>
        this.#create({ apiVersion: 'snapshot.kubevirt.io/v1beta1', kind: 'VirtualMachineRestore', metadata: { name: `r${round}` }, spec }),
      end: async () => {
        await this.#cluster.until(`vmrestore/r${round}`, '.status.complete', 'true');
        await this.#checkCopy(`back-${round}`);
      },
    };
  }

  clone(round: number): Work {
    const machine = (name: string) => ({ apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name });
    const spec = { source: machine(NAME), target: machine(`copy-${round}`) };
    return {
      begin: async () => {
        this.#lines = await this.linesOn(NAME);
        await this.#create({ apiVersion: 'clone.kubevirt.io/v1beta1', kind: 'VirtualMachineClone', metadata: { name: `c${round}` }, spec });
      },
      end: async () => {
        await this.#cluster.until(`vmclone/c${round}`, '.status.phase', 'Succeeded');
        await this.#checkCopy(`copy-${round}`);
      },
    };
  }

  /** It ends as one that sleeps, and goes on then, or runs on and was never away. */
  suspend(): Work {
    const state = () => this.#cluster.field('vm', NAME, '.status.printableStatus');
    const phase = () => this.#cluster.field('vm', NAME, '.status.suspension.phase');
    return {
      begin: () => this.#cluster.must('virtctl', ['suspend', NAME]),
      end: async () => {
        while (!['', 'Suspended'].includes(await phase())) await systemClock.sleep(LOOK_EVERY_MS);
        if ((await phase()) === 'Suspended') {
          const kept = await this.linesOn(NAME);
          await this.#cluster.must('virtctl', ['resume', NAME]);
          while ((await this.linesOn(NAME)) <= kept) await systemClock.sleep(LOOK_EVERY_MS);
        }
        while ((await state()) !== 'Running') await systemClock.sleep(LOOK_EVERY_MS);
      },
    };
  }

  /** What leaves the cluster is the disk of the snapshot. */
  takeAway(round: number): Work {
    const name = `e${round}`;
    const file = join(this.#cluster.home, `${name}.img`);
    const source = { apiGroup: 'snapshot.kubevirt.io', kind: 'VirtualMachineSnapshot', name: `s${round}` };
    return {
      begin: () =>
        this.#create({ apiVersion: 'export.kubevirt.io/v1', kind: 'VirtualMachineExport', metadata: { name }, spec: { source } }),
      end: async () => {
        await this.#cluster.until(`vmexport/${name}`, '.status.phase', 'Ready');
        const words = ['vmexport', 'download', name, '--volume', NAME, '--format', 'raw', '--output', file];
        await this.#cluster.must('virtctl', [...words, '--delete-vme']);
        const [taken, now] = [countLines(file, NAME), await this.linesOn(NAME)];
        rmSync(file);
        assert.ok(taken > 0 && taken <= now, `${taken} lines were taken away, of ${now}`);
      },
    };
  }

  plug(round: number) {
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '16Mi' } } };
    return {
      begin: async (...flags: readonly string[]) => {
        await this.#create({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: `extra-${round}` }, spec });
        // On virtio unless told otherwise: what is left of SCSI keeps a machine from being suspended.
        const bus = flags.includes('--bus') ? [] : ['--bus', 'virtio'];
        await this.#cluster.must('virtctl', ['addvolume', NAME, '--volume-name', `extra-${round}`, ...bus, ...flags]);
      },
      end: () => this.#cluster.until(`vmi/${NAME}`, `.status.volumeStatus[?(@.name=="extra-${round}")].phase`, 'Ready'),
    };
  }

  /** Of a volume that is there after each start, too. */
  plugForGood(round: number): Work {
    const { begin, end } = this.plug(round);
    return { begin: () => begin('--persist', '--bus', 'scsi'), end };
  }

  unplug(round: number): Work {
    const phase = () => this.#cluster.field('vmi', NAME, `.status.volumeStatus[?(@.name=="extra-${round}")].phase`);
    return {
      begin: () => this.#cluster.must('virtctl', ['removevolume', NAME, '--volume-name', `extra-${round}`]),
      end: async () => {
        while ((await phase()) !== '') await systemClock.sleep(LOOK_EVERY_MS);
        await this.#cluster.must('kubectl', ['delete', 'pvc', `extra-${round}`]);
      },
    };
  }

  /** The copy has at least what was synced before it was begun, and no line is torn or missing. */
  async #checkCopy(machine: string): Promise<void> {
    const claim = await this.#cluster.field('vm', machine, '.spec.template.spec.volumes[1].persistentVolumeClaim.claimName');
    const [kept, now] = [await this.linesOn(claim), await this.linesOn(NAME)];
    assert.ok(kept >= this.#lines && kept <= now, `${machine} has ${kept} lines; there were ${this.#lines} before, and are ${now}`);
    await this.#cluster.must('kubectl', ['delete', 'vm', machine]);
  }

  #create(object: object): Promise<string> {
    return this.#cluster.must('kubectl', ['create', '-f', '-'], { input: JSON.stringify(object) });
  }
}

test(`${KILLS} kills in the middle of what is done to disks: all of it ends well, and no line is lost`, {
  timeout: 600_000 + KILLS * 60_000,
}, async (t) => {
  const random = seededRandom(SEED);
  await using cluster = await EmbeddedCluster.start();
  await cluster.must('kubectl', ['create', '-f', '-'], {
    input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: lineWriter(NAME, { isKept: true }) }),
  });
  await cluster.until(`vm/${NAME}`, '.status.ready', 'true');
  const disks = new Disks(cluster);
  while ((await disks.linesOn(NAME)) === 0) await systemClock.sleep(LOOK_EVERY_MS);
  let guests = cluster.guestPids();
  const works = ['resize', 'snapshot', 'restore', 'plug', 'unplug', 'clone', 'suspend', 'takeAway'] as const;
  let written = await disks.linesOn(NAME);
  for (let kill = 0; kill < KILLS; kill += 1) {
    const name = works[kill % works.length] ?? 'resize';
    const work = disks[name](Math.floor(kill / works.length));
    await work.begin();
    await systemClock.sleep(random() * LONGEST_LIFE_MS);
    process.kill(cluster.pid(), 'SIGKILL');
    await cluster.must('virtctl', ['up']);
    await work.end();
    const now = await disks.linesOn(NAME);
    assert.ok(now >= written, `${name}: ${written} lines became ${now}`);
    written = now;
    if (name === 'suspend') guests = cluster.guestPids();
    assert.ok(
      guests.every((pid) => cluster.guestPids().includes(pid)),
      `${name}: another QEMU runs`,
    );
  }
  while ((await disks.linesOn(NAME)) <= written) await systemClock.sleep(LOOK_EVERY_MS); // and it goes on
  // QEMU itself: the machine is started anew, and what was asked for comes to its end there.
  const ofGuests = KILLS < works.length ? (['resize', 'plugForGood'] as const) : (['resize', 'suspend', 'plugForGood'] as const);
  for (const name of ofGuests) {
    const work = disks[name](KILLS);
    const [guest = 0] = qemusOf(cluster);
    assert.notEqual(guest, 0);
    await work.begin();
    await systemClock.sleep(random() * LONGEST_LIFE_MS);
    if (qemusOf(cluster).includes(guest)) process.kill(guest, 'SIGKILL'); // one that was saved has ended by itself
    if (name === 'suspend') await work.end(); // whose memory was saved before may sleep
    while (qemusOf(cluster).every((pid) => pid === guest)) await systemClock.sleep(LOOK_EVERY_MS);
    await cluster.until(`vm/${NAME}`, '.status.ready', 'true');
    if (name !== 'suspend') await work.end();
    const now = await disks.linesOn(NAME);
    assert.ok(now >= written, `${name}: ${written} lines became ${now}`);
  }
  t.diagnostic(`seed ${SEED}: ${KILLS} kills, ${written} lines`);
});

/** Without what serves volumes that were attached. */
function qemusOf(cluster: EmbeddedCluster): number[] {
  return cluster.guestPids().filter((pid) => nameOf(pid).startsWith('qemu-system'));
}

function nameOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8');
  } catch {
    return ''; // it has ended meanwhile
  }
}
