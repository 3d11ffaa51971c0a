// The kinds of screens by type: the state of each in the machine, and how it reads input and shows itself.

import type { Json, JsonObject } from '../../json/json.ts';
import { truthy } from '../expression/expression.ts';
import { maskPrintedFrom } from '../expression/template.ts';
import { toAsciiDigits } from '../expression/values.ts';
import type {
  BranchScreen,
  CallScreen,
  EndScreen,
  Flow,
  FlowScreen,
  InputScreen,
  ListScreen,
  MenuScreen,
  Screen,
  ScreenType,
} from '../format/flow.ts';
import { FLOW_LIMITS } from '../limits.ts';
import { type Accept, compileAccept } from './accept.ts';
import { type Answering, chooseLang, type FlowScope, isRefused } from './scope.ts';
import {
  buildTransitions,
  entryTrack,
  interactiveEvents,
  meta,
  type ScreenKind,
  type ScreenPlace,
  SILENT,
  type StateConfig,
  trackAction,
  transitionTo,
} from './screen.ts';

export const flow: ScreenKind<FlowScreen> = {
  state: (screen, place) => ({ meta: meta(place, screen), ...entryTrack(screen) }),
  behaviour: SILENT,
};

/** The state of a calling screen around the states of the called flow. */
export function callingState(
  screen: FlowScreen,
  place: ScreenPlace,
  inner: { flow: Flow; vars: { readonly [name: string]: unknown }; states: StateConfig },
): StateConfig {
  const { entry = [], ...state } = flow.state(screen, place) as { entry?: readonly unknown[] };
  const { flow: called, vars } = inner;
  const isWalled = called.screens[called.start]?.back === false;
  const enter = {
    type: 'enterFlow',
    params: {
      of: called.flow,
      vars,
      ...(screen.with && { with: screen.with }),
      ...(isWalled && { barrier: true }),
    },
  };
  return {
    ...state,
    entry: [...entry, enter],
    ...inner.states,
    onDone: buildTransitions(place, screen.done, {
      guard: 'returned',
      action: 'leaveFlow',
      ...(screen.save !== undefined && { save: screen.save }),
    }),
  };
}

export const menu: ScreenKind<MenuScreen> = {
  state: (screen, place) => {
    const on: Record<string, StateConfig> = { ...interactiveEvents(screen) };
    for (const { id, when, hidden: _, ...option } of screen.options)
      on[`opt.${id}`] = {
        ...(when !== undefined && { guard: { type: 'when', params: { condition: when } } }),
        ...transitionTo(place, { ...option, from: place.id }, 'go'),
      };
    return { meta: meta(place, screen), ...entryTrack(screen), on };
  },

  behaviour: (screen, scope) => {
    const text = scope.phrase(screen.text);
    const error = screen.error === undefined ? scope.labels.invalid : scope.phrase(screen.error);
    const options = visibleOptions(screen, scope);
    return {
      listsExit: true,
      show: (context, lang) => ({
        text: (isRefused(context) ? `${error.render(context, lang)}\n` : '') + text.render(context, lang),
        rows: options(context).flatMap((option) =>
          option.hidden ? [] : [`${option.key}. ${option.text.render(context, lang)}`],
        ),
      }),
      read: ({ key, context }) => {
        const chosen = options(context).find((option) => option.typed === key);
        return { type: chosen ? chosen.event : 'invalid' };
      },
    };
  },
};

function visibleOptions(screen: MenuScreen, scope: FlowScope) {
  const all = screen.options.map((option) => ({
    event: `opt.${option.id}`,
    text: scope.phrase(option.text),
    own: option.key,
    hidden: option.hidden === true,
    when: option.when === undefined ? undefined : scope.expression(option.when),
  }));
  const numberOptions = (options: typeof all) => {
    let number = 0;
    return options.map(({ event, text, own, hidden: isHidden }) => {
      const key = own ?? String(++number);
      return { event, text, hidden: isHidden, key, typed: toAsciiDigits(key) };
    });
  };
  // Most menus have no conditions and are numbered once.
  if (all.every((option) => !option.when)) {
    const fixed = numberOptions(all);
    return () => fixed;
  }
  return (context: JsonObject) => numberOptions(all.filter(({ when }) => !when || truthy(when.evaluate(context))));
}

export const input: ScreenKind<InputScreen> = {
  state: (screen, place) => {
    const { save, to, set, attempts } = screen;
    const kept = transitionTo(place, { to, save, from: place.id, ...(set && { set }) }, 'keep');
    const text: StateConfig[] = [{ guard: { type: 'accepted' }, ...kept }];
    if (attempts !== undefined && screen.else !== undefined)
      text.push({
        guard: { type: 'exhausted', params: { attempts } },
        ...transitionTo(place, { to: screen.else }, 'go'),
      });
    text.push({ actions: [{ type: 'refuse' }] });
    return { meta: meta(place, screen), ...entryTrack(screen), on: { ...interactiveEvents(screen), text } };
  },

  behaviour: (screen, scope) => {
    const text = scope.phrase(screen.text);
    const error = screen.error === undefined ? undefined : scope.phrase(screen.error);
    const { sameAs, ...rule } = screen.accept ?? {};
    const isSecret = scope.flow.vars?.[screen.save]?.secret === true;
    const accept = Object.keys(rule).length ? compileAccept(rule) : isSecret ? ANY_SECRET : ANYTHING;
    return {
      listsExit: false,
      show: (context, lang) => ({
        text: (isRefused(context) && error ? `${error.render(context, lang)}\n` : '') + text.render(context, lang),
        rows: [],
      }),
      read: (answering) => {
        const checked = accept.check(answering.input, answering.now, chooseLang(scope, answering.context));
        const accepted = checked.ok && (typeof sameAs !== 'string' || isSame(answering, sameAs, checked.value));
        return { type: 'text', accepted, value: checked.ok ? checked.value : null };
      },
    };
  },
};

const ANYTHING: Pick<Accept, 'check'> = { check: (text: string) => ({ ok: true, value: text as Json }) };
// A PIN is the same in the digits of every script.
const ANY_SECRET: Pick<Accept, 'check'> = { check: (text) => ({ ok: true, value: toAsciiDigits(text) }) };

// Saved values were normalized by a rule (2024-03-05 for 5/3/2024), so compare with what this rule returns. A secret of an
// earlier turn is gone; only the proof in the record remains.
function isSame({ key: text, context, prove }: Answering, name: string, value: Json): boolean {
  const kept = context[name] ?? null;
  if (kept !== null) return kept === value || String(kept) === text;
  const proof = (context.$proofs as JsonObject | undefined)?.[name];
  return proof !== undefined && (proof === prove(String(value)) || proof === prove(text));
}

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
      read: ({ key, context }) => {
        const at = /^[1-9]\d{0,3}$/.test(key) ? Number(key) - 1 : -1;
        const item = screen.pick ? all(context)[at] : undefined;
        return item === undefined ? { type: 'invalid' } : { type: 'pick', value: item };
      },
    };
  },
};

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
