// A flow under another name, as edits of the texts that name it: its own, its tests, and those of the flows that call it.

import { SourceText } from '../../../../lib/flow/editing/source-text.ts';
import { pointerTo } from '../../../../lib/flow/format/source.ts';
import { isObject } from '../../../../lib/given.ts';
import type { Json, JsonObject } from '../../../../lib/json/json.ts';

/** The text of a flow, or of its tests, with another name. Throws ERR_INPUT if it is not JSON. */
export function nameFlow(text: string, flow: string): string {
  const source = new SourceText(text);
  source.set('/flow', flow);
  return source.text;
}

/** The screens with which a flow calls another one. Throws ERR_INPUT if the text is not JSON. */
export function findCalls(text: string, called: string): string[] {
  return listCalls(new SourceText(text), called);
}

/** The text of a flow that calls another one by its new name. Throws ERR_INPUT if it is not JSON. */
export function renameCalls(text: string, called: string, to: string): string {
  const source = new SourceText(text);
  source.replace(listCalls(source, called).map((id) => source.replacing(pointerTo('screens', id, 'flow'), to)));
  return source.text;
}

/** The text of tests that name screens of a called flow, such as `login.pin`, by its new name. Throws ERR_INPUT if it is not JSON. */
export function renameInTests(text: string, called: string, to: string): string {
  if (text.trim() === '') return text;
  const source = new SourceText(text);
  const file = source.value();
  const tests = isObject(file) && Array.isArray(file.tests) ? (file.tests as Json[]) : [];
  const edits = tests.flatMap((test, at) =>
    (isObject(test) && Array.isArray(test.steps) ? (test.steps as Json[]) : []).flatMap((step, number) => {
      const path = isObject(step) ? step.screen : undefined;
      if (typeof path !== 'string' || !path.startsWith(`${called}.`)) return [];
      return [source.replacing(pointerTo('tests', at, 'steps', number, 'screen'), to + path.slice(called.length))];
    }),
  );
  source.replace(edits);
  return source.text;
}

function listCalls(source: SourceText, called: string): string[] {
  const flow = source.value();
  const screens = isObject(flow) && isObject(flow.screens) ? (flow.screens as JsonObject) : {};
  return Object.keys(screens).filter((id) => {
    const screen = screens[id];
    return isObject(screen) && screen.type === 'flow' && screen.flow === called;
  });
}
