/** How to reach the guest from outside: commands to copy, and links to its ports. */
import { SERVICES } from '../api/core/service.ts';
import { CopyButton } from './copy-button.tsx';
import type { Machine } from './derive-machines.ts';
import { deriveCommands, deriveWays } from './derive-network.ts';
import { PortLink } from './port-link.tsx';
import { useFollowed } from './use-followed.ts';

export function WaysIn({ machine }: { readonly machine: Machine }) {
  const services = useFollowed(SERVICES, machine.namespace);
  const ways = deriveWays(machine, services ?? []);
  return (
    <>
      <ul class="ways">
        {deriveCommands(machine).map(({ what, command }) => (
          <li key={what}>
            <code>{command}</code> <CopyButton text={command} what={what} />
          </li>
        ))}
      </ul>
      {ways.length > 0 && (
        <ul class="ways" aria-label="Ports">
          {ways.map(({ service, port, address, here }) => (
            <li key={`${address}${port}`}>
              <PortLink here={here} otherwise={<code>{address}</code>} />{' '}
              <span class="faint">
                to port {port}, by Service {service}
              </span>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
