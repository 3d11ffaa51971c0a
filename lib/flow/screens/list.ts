// A list: one row per array item, split into pages; with `pick`, rows are numbered and selectable.

import type { Json, JsonObject } from '../../json/json.ts';
import { maskPrintedFrom } from '../expression/template.ts';
import type { ListScreen } from '../format/flow.ts';
import { FLOW_LIMITS } from '../limits.ts';
import { isRefused } from '../run/scope.ts';
import { entryTrack, interactiveEvents, meta, type ScreenKind, transitionTo } from './screen.ts';

export const list: ScreenKind<ListScreen> = {
  state: (screen, place) => ({
    meta: meta(place, screen),
    ...entryTrack(screen),
    on: {
      ...interactiveEvents(screen),
      ...(screen.pick && { pick: transitionTo(place, { ...screen.pick, from: place.id }, 'keep') }),
    },
  }),

  behaviour: (screen, scope) => {
    const text = scope.phrase(screen.text);
    const row = scope.phrase(screen.row);
    const empty = screen.empty === undefined ? undefined : scope.phrase(screen.empty);
    const error = screen.error === undefined ? scope.labels.invalid : scope.phrase(screen.error);
    const items = scope.expression(screen.items);
    const all = (context: JsonObject): readonly Json[] => {
      const found = items.evaluate(context);
      return Array.isArray(found) ? found.slice(0, FLOW_LIMITS.listItems) : [];
    };
    return {
      listsExit: true,
      show: (context, lang) => {
        const found = all(context);
        const lines = [isRefused(context) ? error.render(context, lang) : '', text.render(context, lang)];
        if (!found.length && empty) lines.push(empty.render(context, lang));
        const number = screen.pick ? (at: number) => `${at + 1}. ` : () => '';
        const scope = maskPrintedFrom(context, 'row', items.names);
        const rows = found.map((item, at) => number(at) + row.render({ ...scope, row: item }, lang));
        return { text: lines.filter((line) => line !== '').join('\n'), rows };
      },
      read: ({ input, context }) => {
        const at = /^[1-9]\d{0,3}$/.test(input) ? Number(input) - 1 : -1;
        const item = screen.pick ? all(context)[at] : undefined;
        return item === undefined ? { type: 'invalid' } : { type: 'pick', value: item };
      },
    };
  },
};
