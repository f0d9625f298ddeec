/** `virtctl image push`: what it is called with; run.ts is what it does. */
import { defineCommand } from '../../../define-command.ts';
import { off } from '../../../parameters.ts';
import { A_FILE, known, name } from '../parameters.ts';

export const definition = defineCommand({
  help: { rank: 4, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    flags: { plainHttp: off('The registry speaks http, not https') },
    positional: {
      kind: 'tuple',
      parameters: [
        { ...known, brief: `${A_FILE}; or the name of an image of the embedded cluster`, placeholder: 'SOURCE' },
        { ...name, brief: 'Its name in a registry: HOST/NAME:TAG', placeholder: 'TARGET' },
      ],
    },
  },
  docs: {
    brief: 'Send a disk or an image to a registry, as a containerDisk for any cluster',
    fullDescription: [
      'Send a disk or an image to a registry, as a containerDisk for any cluster. Neither Docker nor the embedded cluster is needed.',
      'Logins are those of podman and docker: $REGISTRY_AUTH_FILE, $XDG_RUNTIME_DIR/containers/auth.json, $DOCKER_CONFIG/config.json or',
      '~/.docker/config.json. Helpers that keep passwords elsewhere (credsStore, credHelpers) are not run.',
    ].join('\n'),
    customUsage: [
      'debian-12.qcow2 registry.example.com/team/debian:12',
      'localhost/guests/tiny32 10.250.0.1:5000/guests/tiny32:latest --plain-http',
    ],
  },
});
