// An end: says goodbye and closes the session; in a flow that another one called, it returns to the caller.

import type { EndScreen } from '../format/flow.ts';
import { meta, type ScreenKind, trackAction } from './screen.ts';

export const end: ScreenKind<EndScreen> = {
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
