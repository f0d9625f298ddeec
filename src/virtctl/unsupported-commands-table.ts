/**
 * What KubeVirt's virtctl has and this one does not, and why: whoever types it by habit is told so, instead of that nobody knows it.
 * A row goes when its feature comes.
 */
type Row = readonly [said: string, why: string];

const UNSUPPORTED_COMMANDS: readonly Row[] = [
  ['usbredir', 'devices of this machine cannot be lent to a guest yet'],
  ['objectgraph', 'kubectl get vmi,pods,pvc shows the objects of a machine, virtctl why NAME what they wait for'],
  ['template', 'there are no templates; virtctl create vm writes a manifest'],
  ['permitted-devices', 'devices of the node cannot be given to guests yet'],
];

const UNSUPPORTED_FLAGS: readonly Row[] = [
  ['volume-import', 'write dataVolumeTemplates into the manifest (examples/disk/imported.yaml), or use --volume-containerdisk'],
  ['volume-sysprep', 'answer files for Windows (sysprep) are not supported yet'],
];

/** All of it, for the documents. */
export function everythingUnsupported(): { readonly commands: readonly Row[]; readonly flags: readonly Row[] } {
  return { commands: UNSUPPORTED_COMMANDS, flags: UNSUPPORTED_FLAGS };
}

/** What to say to a word of KubeVirt's virtctl; undefined for one that it does not know either. */
export function unsupported(what: 'command' | 'flag', said: string): string | undefined {
  const word = said.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const why = (what === 'command' ? UNSUPPORTED_COMMANDS : UNSUPPORTED_FLAGS).find(([each]) => each === word)?.[1];
  return (
    why && `error[NOT_SUPPORTED]: the ${what} ${what === 'flag' ? '--' : ''}${word} of KubeVirt's virtctl is not supported\nwhy: ${why}`
  );
}
