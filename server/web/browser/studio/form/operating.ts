// Operations of the form, one after the other: the server says which edits of the text they make, and each is one step of undo.

import type { EditedFlow, FlowOperation } from '../../../../../lib/flow/editing/operations.ts';
import type { Editor } from '../editor.ts';
import { post } from '../requests.ts';

export interface OperatorOptions {
  readonly editor: Editor;
  /** The name of the flow. */
  readonly flow: () => string;
  /** An operation was done, or refused; it may lead to a screen. */
  readonly onDone: (screen: string | undefined) => Promise<void>;
  readonly tell: (words: string) => void;
}

/** Returns what does an operation, and resolves to why it could not. */
export function operator({ editor, flow, onDone, tell }: OperatorOptions) {
  let working: Promise<unknown> = Promise.resolve();

  async function work(operation: FlowOperation): Promise<string | undefined> {
    const sent = editor.send('flow');
    const tests = editor.send('tests');
    const body = { flow: flow(), text: sent.text, tests: tests.text, operation };
    let screen: string | undefined;
    let why = '';
    try {
      const edited = await post<EditedFlow>('/edit', body);
      ({ screen } = edited);
      if (!editor.apply({ flow: { edits: edited.edits, sent }, tests: { edits: edited.tests, sent: tests } }))
        why = 'The text was changed meanwhile. Try again.';
    } catch (error) {
      why = (error as Error).message;
    }
    tell(why);
    await onDone(why === '' ? screen : undefined);
    return why === '' ? undefined : why;
  }

  // Each is an edit of the text that the one before has left.
  return (operation: FlowOperation): Promise<string | undefined> => {
    const done = working.then(() => work(operation));
    working = done;
    return done;
  };
}
