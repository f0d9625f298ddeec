/** `virtctl vnc`: what it is called with; run.ts is what it does. */
import { numberParser } from '@stricli/core';
import { defineClusterCommand } from '../../define-command.ts';
import { connection, connectionAliases, machine, off, text } from '../../parameters.ts';

export const definition = defineClusterCommand({
  help: { group: 'guest', rank: 2, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    flags: {
      ...connection,
      proxyOnly: off('Only listen, and print the port as JSON; connect a viewer yourself'),
      address: { ...text, brief: 'Address to listen on', default: '127.0.0.1', placeholder: 'address' },
      port: { kind: 'parsed', parse: numberParser, brief: 'Port to listen on; 0 takes a free one', default: '0', placeholder: 'port' },
      viewOnly: off('Only look: keys and pointer stay with who has them'),
      preserveSession: off('Refuse to connect while somebody else looks'),
      vncType: { kind: 'enum', values: ['remote-viewer', 'vncviewer', 'gvncviewer'], brief: 'Which viewer to start', optional: true },
      vncPath: { ...text, brief: 'The program of the viewer', optional: true, placeholder: 'file' },
      file: { ...text, brief: 'screenshot: where the picture goes', optional: true, placeholder: 'file' },
      moveCursor: off('screenshot: move the pointer first, which wakes a dark screen'),
    },
    positional: machine,
    aliases: { ...connectionAliases, f: 'file', m: 'moveCursor' },
  },
  docs: {
    brief: 'Show the screen of a running machine in a VNC viewer, or take a picture of it',
    customUsage: [
      'my-vm',
      { input: 'screenshot my-vm --file my-vm.png', brief: 'a picture; --file - writes it to the standard output' },
      { input: 'my-vm --proxy-only --port 5900', brief: 'for any viewer: vncviewer 127.0.0.1::5900' },
    ],
  },
});
