/** One machine on one page: what `ls` knows of it, its disks and its addresses, then what `why` says. */
import { escapeToOneLine } from '../../../base/escape-unprintable.ts';
import { decideWhy } from '../../../sdk/why/decide.ts';
import { observeWhy } from '../../../sdk/why/observe.ts';
import type { ClusterDeps, ConnectionFlags } from '../../deps.ts';
import { foldLine } from '../../fold-line.ts';
import { diskLines } from '../../ls/disk-lines.ts';
import { vmRows } from '../../ls/rows.ts';
import { vmName } from '../../vm-target.ts';

const WIDTH = 12;
const TITLES: Readonly<Record<string, string>> = { IP: 'Address', CPUS: 'CPUs' };

export async function run({ client, namespace, clock, stdout }: ClusterDeps, _flags: ConnectionFlags, ...words: string[]): Promise<void> {
  const observed = await observeWhy({ client, namespace, name: vmName('describe', words), clock });
  const { vm, vmi } = observed;
  const claims = [...observed.claims.values()].filter((claim) => claim !== undefined);
  const [titles = [], cells = []] = vmRows({
    vms: vm ? [vm] : [],
    vmis: vmi ? [vmi] : [],
    claims,
    now: clock.now(),
    isWide: true,
    isAcross: true,
  });
  const facts = titles.map((title, index) => line(TITLES[title] ?? title[0] + title.slice(1).toLowerCase(), cells[index] ?? '-'));
  const disks = diskLines((vmi?.spec ?? vm?.spec.template.spec)?.volumes ?? [], claims).map((text) => line('Disk', text));
  const { what, evidence, fix, isBlocked } = decideWhy(observed);
  const why = [line('State', what), ...evidence.map((each) => line('', each)), ...(fix ? [line(isBlocked ? 'Fix' : 'Next', fix)] : [])];
  const lines = [...facts, ...disks, ...why].map((each) => foldLine(each, { columns: stdout.columns, indent: WIDTH }));
  stdout.write(`${lines.join('\n')}\n`);
}

function line(title: string, text: string): string {
  return `${`${title}${title && ':'}`.padEnd(WIDTH)}${escapeToOneLine(text)}`;
}
