/** `virtctl create clone`: what it is called with; run.ts is what it does. */
import { defineCommand } from '../../../define-command.ts';
import { optionalText, text } from '../../../parameters.ts';

const several = { ...text, variadic: true, optional: true } as const;

export const definition = defineCommand({
  help: { rank: 4, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    flags: {
      name: { ...optionalText, brief: 'Name of the clone (default: clone- and five characters)', placeholder: 'name' },
      sourceName: { ...text, brief: 'What the new machine begins as', placeholder: 'name' },
      sourceType: { ...optionalText, brief: 'vm (the default) or snapshot', placeholder: 'type' },
      targetName: { ...optionalText, brief: 'Name of the new machine (default: made up)', placeholder: 'name' },
      labelFilter: {
        ...several,
        brief: 'Which labels it has: a key in which * is any text; with a leading ! not these',
        placeholder: 'filter',
      },
      annotationFilter: { ...several, brief: 'The same for annotations', placeholder: 'filter' },
      templateLabelFilter: { ...several, brief: 'The same for labels of its template', placeholder: 'filter' },
      templateAnnotationFilter: { ...several, brief: 'The same for annotations of its template', placeholder: 'filter' },
      newMacAddress: { ...several, brief: 'Address of an interface: NAME:02:00:00:12:34:56', placeholder: 'address' },
      newSmbiosSerial: { ...optionalText, brief: 'Its serial number', placeholder: 'serial' },
    },
  },
  docs: {
    brief: 'Write the manifest of a clone; nothing is created',
    customUsage: [{ input: '--source-name my-vm --target-name my-vm-2 | kubectl create -f -', brief: 'virtctl clone waits for it, too' }],
  },
});
