// An input: the caller's answer is checked by the screen's rule and saved in a variable.

import type { Json, JsonObject } from '../../json/json.ts';
import type { InputScreen } from '../format/flow.ts';
import { type Accept, compileAccept } from '../run/accept.ts';
import { type Answering, isRefused } from '../run/scope.ts';
import { entryTrack, interactiveEvents, meta, type ScreenKind, type StateConfig, transitionTo } from './screen.ts';

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
    const accept = Object.keys(rule).length ? compileAccept(rule) : ANYTHING;
    return {
      listsExit: false,
      show: (context, lang) => ({
        text: (isRefused(context) && error ? `${error.render(context, lang)}\n` : '') + text.render(context, lang),
        rows: [],
      }),
      read: (answering) => {
        const checked = accept.check(answering.input, answering.now);
        const accepted = checked.ok && (typeof sameAs !== 'string' || isSame(answering, sameAs, checked.value));
        return { type: 'text', accepted, value: checked.ok ? checked.value : null };
      },
    };
  },
};

const ANYTHING: Pick<Accept, 'check'> = { check: (text: string) => ({ ok: true, value: text as Json }) };

// Saved values were normalized by a rule (2024-03-05 for 5/3/2024), so compare with what this rule returns. A secret of an
// earlier turn is gone; only the proof in the record remains.
function isSame({ input: text, context, prove }: Answering, name: string, value: Json): boolean {
  const kept = context[name] ?? null;
  if (kept !== null) return kept === value || String(kept) === text;
  const proof = (context.$proofs as JsonObject | undefined)?.[name];
  return proof !== undefined && (proof === prove(String(value)) || proof === prove(text));
}
