/** The network cards of a machine, and the Services that lead to it. */

import { SERVICES } from '../api/core/service.ts';
import { CommandLine } from './command-line.tsx';
import type { Machine } from './derive-machines.ts';
import { deriveCards, deriveWays } from './derive-network.ts';
import { where } from './derive-where.ts';
import { PortLink } from './port-link.tsx';
import { useFollowed } from './use-followed.ts';

export function NetworkTab({ machine }: { readonly machine: Machine }) {
  const services = useFollowed(SERVICES, machine.namespace);
  const cards = deriveCards(machine);
  const ways = deriveWays(machine, services ?? []);
  return (
    <>
      <section aria-labelledby="cards">
        <h2 id="cards">Cards</h2>
        {cards.length === 0 ? (
          <p>{machine.vmi ? 'It has none, or none is known yet.' : 'It does not run.'}</p>
        ) : (
          <table>
            <thead>
              <tr>
                <th scope="col">Network</th>
                <th scope="col">Hardware address</th>
                <th scope="col">Addresses</th>
                <th scope="col">In the guest</th>
              </tr>
            </thead>
            <tbody>
              {cards.map(({ name, mac, addresses, inGuest }) => (
                <tr key={`${name}${mac}`}>
                  <td>{name}</td>
                  <td>{mac}</td>
                  <td>{addresses}</td>
                  <td>{inGuest}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </section>
      <section aria-labelledby="ways">
        <h2 id="ways">Services that lead to it</h2>
        {ways.length === 0 ? (
          <p>There are none.</p>
        ) : (
          <table>
            <thead>
              <tr>
                <th scope="col">In the cluster</th>
                <th scope="col">Port of the guest</th>
                <th scope="col">Port of the nodes</th>
                <th scope="col">On this machine</th>
              </tr>
            </thead>
            <tbody>
              {ways.map(({ address, port, nodePort, here }) => (
                <tr key={`${address}${port}`}>
                  <td>{address}</td>
                  <td>{port}</td>
                  <td>{nodePort ?? '–'}</td>
                  <td>
                    <PortLink here={here} otherwise="–" />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        <CommandLine
          before="One more, in a terminal:"
          command={`virtctl expose vm ${machine.name} --name ${machine.name} --port 80 --type NodePort${where(machine.namespace)}`}
        />
      </section>
    </>
  );
}
