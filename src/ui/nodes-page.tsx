/** The nodes, and how much of each is promised to machines. */

import { conditionOf } from '../api/meta.ts';
import { deriveCapacity, deriveFindings, type Promised } from './derive-nodes.ts';
import { useSession } from './hooks.ts';
import { HostChecks } from './host-checks.tsx';
import { PlaceLink } from './place-link.tsx';
import { StatusWord } from './status-word.tsx';

export function NodesPage() {
  const { nodes, vmis, info } = useSession();
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
              Processors of guests
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
            const { machines, memoryBytes, processors } = deriveCapacity(node, vmis.list());
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
                  {machines === 0 ? (
                    0
                  ) : (
                    <PlaceLink to={{ page: 'machines', text: '', status: '', node: metadata.name }}>
                      {machines === 1 ? 'one machine' : `${machines} machines`}
                    </PlaceLink>
                  )}
                </td>
                <td>
                  <Bar of={memoryBytes} label={`Memory of guests on ${metadata.name}`} /> {gibibytes(memoryBytes.used)} of{' '}
                  {gibibytes(memoryBytes.all)} GiB
                </td>
                <td class="wide">
                  <Bar of={processors} label={`Processors of guests on ${metadata.name}`} /> {processors.used} of {processors.all}
                </td>
                <td class="wide">{String(status?.nodeInfo?.kubeletVersion ?? '')}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {info.hasHostChecks ? (
        <HostChecks />
      ) : (
        <p class="faint">
          Whether the machine of an embedded cluster is in order: <code>virtctl doctor</code>
        </p>
      )}
    </main>
  );
}

function Bar({ of: { used, all }, label }: { readonly of: Promised; readonly label: string }) {
  return <meter min={0} max={Math.max(all, 1)} value={used} aria-label={label} />;
}

function gibibytes(bytes: number): string {
  return (bytes / 2 ** 30).toFixed(1);
}
