/** Where a port is on the machine of an embedded cluster: a link, where a browser may open it. */
import type { ComponentChildren } from 'preact';
import type { HerePort } from './derive-network.ts';
import { isLocalPage } from './local-page.ts';

type Props = { readonly here: HerePort | undefined; readonly otherwise: ComponentChildren };

export function PortLink({ here, otherwise }: Props) {
  if (!here || !isLocalPage()) return <>{otherwise}</>;
  return here.href === undefined ? <code>{here.address}</code> : <a href={here.href}>{here.address}</a>;
}
