/** The nodes, and how much of each is promised to machines. */

import { isFinal } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import { guestMemoryBytesOf } from '../api/kubevirt/vmi-size.ts';
import { conditionOf } from '../api/meta.ts';
import { parseQuantity } from '../base/quantity.ts';
import { deriveFindings } from './derive-nodes.ts';
import { useSession } from './hooks.ts';
import { PlaceLink } from './place-link.tsx';
import { StatusWord } from './status-word.tsx';

export function NodesPage() {
  const { nodes, vmis } = useSession();
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and has nothing else that keys could reach
    <main tabIndex={0}>
      <header class="bar">
        <h1>Nodes</h1>
      </header>
      <table>
        <thead>
          <tr>
            <th scope="col">Status</th>
            <th scope="col">Name</th>
            <th scope="col">Machines</th>
            <th scope="col">Memory of guests</th>
            <th scope="col" class="wide">
              Processors
            </th>
            <th scope="col" class="wide">
              Version
            </th>
          </tr>
        </thead>
        <tbody>
          {(nodes?.list() ?? []).map((node) => {
            const { metadata, spec, status } = node;
            const findings = deriveFindings(node);
            const here = vmis.list().filter((vmi) => vmi.status?.nodeName === metadata.name && !isFinal(vmi));
            const used = here.reduce((sum, vmi) => sum + (guestMemoryBytesOf(vmi.spec) ?? 0), 0);
            const all = parseQuantity(status?.allocatable?.['memory'] ?? status?.capacity?.['memory'] ?? '0') ?? 0;
            const isReady = conditionOf(status?.conditions, 'Ready')?.status === 'True';
            const word = isReady ? (spec?.unschedulable ? 'Cordoned' : 'Ready') : 'Not ready';
            return (
              <tr key={metadata.name}>
                <td>
                  <StatusWord status={word} tone={word === 'Ready' ? 'good' : word === 'Cordoned' ? 'off' : 'bad'} />
                </td>
                <td>
                  {metadata.name}
                  {findings.map((finding) => (
                    <div class="trouble" key={finding}>
                      {finding}
                    </div>
                  ))}
                </td>
                <td>
                  {here.length === 0 ? (
                    0
                  ) : (
                    <PlaceLink to={{ page: 'machines', text: '', status: '', node: metadata.name }}>
                      {here.length === 1 ? 'one machine' : `${here.length} machines`}
                    </PlaceLink>
                  )}
                </td>
                <td>
                  <meter min={0} max={Math.max(all, 1)} value={used} aria-label={`Memory of guests on ${metadata.name}`} />{' '}
                  {gibibytes(used)} of {gibibytes(all)} GiB
                </td>
                <td class="wide">{status?.capacity?.['cpu'] ?? '–'}</td>
                <td class="wide">{String(status?.nodeInfo?.kubeletVersion ?? '')}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <p class="faint">
        Whether the machine of an embedded cluster is in order: <code>virtctl doctor</code>
      </p>
    </main>
  );
}

function gibibytes(bytes: number): string {
  return (bytes / 2 ** 30).toFixed(1);
}
