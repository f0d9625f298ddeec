/** What slirp4netns says when it cannot serve, with what can be done about it. Pure. */

/** By what it says; the first match wins. */
const FIXES: readonly (readonly [says: RegExp, fix: string])[] = [
  [/\/dev\/net\/tun.*(Permission denied|Operation not permitted)/, 'chmod 0666 /dev/net/tun, as root'],
  [/\/dev\/net\/tun.*No such (file|device)/, 'modprobe tun, as root'],
];

/** One line. */
export function whyNoNetwork(complaint: string): string {
  const said = complaint.trim().split('\n').slice(0, 3).join('; ') || 'it does not say why';
  const fix = FIXES.find(([says]) => says.test(said))?.[1];
  return fix ? `${said}; fix: ${fix}` : said;
}
