// The kinds of screens by type, and the short ones: call, branch and end.

import type { BranchScreen, CallScreen, EndScreen, Screen, ScreenType } from '../format/flow.ts';
import { flow } from './flow.ts';
import { input } from './input.ts';
import { list } from './list.ts';
import { menu } from './menu.ts';
import { buildTransitions, entryTrack, meta, type ScreenKind, SILENT, trackAction } from './screen.ts';

/** Calls a service and continues according to its result. The caller sees it only if it takes long. */
const call: ScreenKind<CallScreen> = {
  state: (screen, place) => ({
    meta: { ...meta(place, screen), with: screen.with ?? {} },
    ...entryTrack(screen),
    invoke: {
      id: place.path,
      src: screen.service,
      onDone: buildTransitions(place, screen.done, {
        guard: 'answered',
        action: 'receive',
        ...(screen.save !== undefined && { save: screen.save }),
      }),
      onError: buildTransitions(place, screen.fail, { guard: 'failed', action: 'giveUp' }),
    },
  }),
  behaviour: SILENT,
};

/** Continues immediately with the first condition that holds. */
const branch: ScreenKind<BranchScreen> = {
  state: (screen, place) => ({
    meta: meta(place, screen),
    ...entryTrack(screen),
    always: buildTransitions(place, screen.branch, { guard: 'when', action: 'go' }),
  }),
  behaviour: SILENT,
};

/** Shows the last text and closes the session; in a called flow, returns to the caller. */
const end: ScreenKind<EndScreen> = {
  state: (screen, place) => {
    const entry = [
      ...(screen.track === undefined ? [] : [trackAction(screen.track)]),
      ...(screen.output ? [{ type: 'output', params: { of: place.flow.flow, values: screen.output } }] : []),
    ];
    return { type: 'final', meta: meta(place, screen), ...(entry.length && { entry }) };
  },
  behaviour: (screen, scope) => {
    const text = scope.phrase(screen.text);
    return { listsExit: false, show: (context, lang) => ({ text: text.render(context, lang), rows: [] }) };
  },
};

export const KINDS: { readonly [T in ScreenType]: ScreenKind<Extract<Screen, { type: T }>> } = {
  menu,
  input,
  list,
  call,
  branch,
  flow,
  end,
};
