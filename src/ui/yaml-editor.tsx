/** An editor of YAML that completes by the schema of the kind. Loaded when somebody opens one: it is larger than all the rest of the page. */
import { autocompletion, type CompletionContext, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { syntaxHighlighting } from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view';
import { classHighlighter } from '@lezer/highlight';
import { useEffect, useRef } from 'preact/hooks';
import { deriveCompletion, type SchemaDocument } from './derive-completion.ts';
import { useSession } from './hooks.ts';

type Props = {
  readonly text: string;
  readonly label: string;
  readonly kind: string;
  readonly isReadOnly?: boolean;
  change(text: string): void;
};

const SCHEMAS = '/openapi/v3/apis/kubevirt.io/v1';

export function YamlEditor({ text, label, kind, isReadOnly = false, change }: Props) {
  const { client } = useSession();
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const latest = useRef(change);
  latest.current = change;
  // what was typed comes back as `text`, perhaps after more was typed: that is old, and not another text
  const told = useRef<string[]>([]);
  const isFromOutside = useRef(false);
  useEffect(() => {
    const parent = place.current;
    if (!parent) return;
    const schemas = askOnce(async () => (await (await client.request(SCHEMAS)).json()) as SchemaDocument);
    const complete = async ({ state, pos, explicit }: CompletionContext) => {
      const line = state.doc.lineAt(pos);
      const word = line.text.slice(0, pos - line.from);
      if (!explicit && !/[\w:] ?$/.test(word)) return null;
      const lines = [...state.doc.iterLines(1, line.number), word];
      const found = deriveCompletion(lines, await schemas().catch(() => ({})), kind);
      if (!found) return null;
      const options = found.options.map(({ label: name, insert, detail, info }) => ({
        label: name,
        apply: insert,
        detail,
        ...(info && { info }),
      }));
      return { from: line.from + found.from, options, validFor: /^[\w./-]*$/ };
    };
    const editor = new EditorView({
      parent,
      state: EditorState.create({
        doc: text,
        extensions: [
          lineNumbers(),
          history(),
          highlightSpecialChars(), // what would turn a line around, or is not seen, stands there as a dot
          drawSelection(),
          yaml(),
          syntaxHighlighting(classHighlighter),
          autocompletion({ override: [complete], icons: false }),
          EditorState.readOnly.of(isReadOnly),
          EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false', tabindex: '0' }),
          EditorView.lineWrapping,
          // Tab is not among them: it leaves the editor, which whoever has no mouse needs
          keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap]),
          EditorView.updateListener.of(({ docChanged, state }) => {
            if (!docChanged || isFromOutside.current) return;
            const typed = state.doc.toString();
            told.current.push(typed);
            latest.current(typed);
          }),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, [client, kind, label, isReadOnly]);
  useEffect(() => {
    const editor = view.current;
    const at = told.current.indexOf(text);
    told.current = at < 0 ? [] : told.current.slice(at + 1);
    if (!editor || at >= 0 || editor.state.doc.toString() === text) return;
    isFromOutside.current = true;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text } });
    isFromOutside.current = false;
  }, [text]);
  return <div class="editor" ref={place} />;
}

function askOnce<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined;
  return () => {
    asked ??= ask().catch((error) => {
      asked = undefined; // again with the next key
      throw error;
    });
    return asked;
  };
}
