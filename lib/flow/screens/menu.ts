// A menu: options numbered in visible order, or with their own key.

import type { JsonObject } from '../../json/json.ts';
import { truthy } from '../expression/expression.ts';
import type { MenuScreen } from '../format/flow.ts';
import { type FlowScope, isRefused } from '../run/scope.ts';
import { entryTrack, interactiveEvents, meta, type ScreenKind, type StateConfig, transitionTo } from './screen.ts';

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
      read: ({ input, context }) => {
        const chosen = options(context).find((option) => option.key === input);
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
    return options.map(({ event, text, own, hidden: isHidden }) => ({
      event,
      text,
      hidden: isHidden,
      key: own ?? String(++number),
    }));
  };
  // Most menus have no conditions and are numbered once.
  if (all.every((option) => !option.when)) {
    const fixed = numberOptions(all);
    return () => fixed;
  }
  return (context: JsonObject) => numberOptions(all.filter(({ when }) => !when || truthy(when.evaluate(context))));
}
