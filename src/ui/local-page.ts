/** Ports of nodes lead in from the loopback of the machine that an embedded cluster is on, and so does this page there. */
export function isLocalPage(): boolean {
  return ['127.0.0.1', 'localhost', '[::1]'].includes(location.hostname);
}
