// Under the phone: why it shows what it shows. Each screen leads to its form, its place in the drawing and its text.

import type { Json } from '../../../../../lib/json/json.ts';
import type { MadeCall, TakenWay, TurnReasons } from '../../../studio/reasons.ts';
import { button, element, findElement } from '../../element.ts';

type OpenScreen = (screen: string) => void;

/** Shows the reasons of the last turn; nothing without them. */
export function showReasons(why: TurnReasons | undefined, onPick: OpenScreen): void {
  const box = findElement('reasons');
  box.hidden = !why;
  if (!why) return;
  const { screen, ways, calls, changed } = why;
  box.replaceChildren(
    element('p', { class: 'row small' }, ['Screen', button(screen, () => onPick(screen))]),
    ...listPart(
      'Way',
      ways.filter(({ from }) => from !== null).map((way) => drawWay(way, onPick)),
    ),
    ...listPart(
      'Calls',
      calls.map((call) => drawCall(call, onPick)),
    ),
    ...listPart(
      'Variables',
      changed.map(({ name, before, after }) =>
        element('li', {}, [element('code', { text: `${name}: ${showValue(before)} → ${showValue(after)}` })]),
      ),
    ),
  );
}

const listPart = (title: string, lines: readonly HTMLElement[]): HTMLElement[] =>
  lines.length ? [element('h3', { text: title }), element('ul', { class: 'stack small' }, lines)] : [];

function drawWay({ from, to, way, because }: TakenWay, onPick: OpenScreen): HTMLElement {
  return element('li', {}, [
    button(from!, () => onPick(from!)),
    ` ${way} → `,
    button(to, () => onPick(to)),
    because !== undefined && element('small', { class: 'quiet', text: ` because ${because}` }),
  ]);
}

function drawCall({ screen, service, input, output, failure }: MadeCall, onPick: OpenScreen): HTMLElement {
  return element('li', { class: failure ? 'failed' : '' }, [
    button(screen, () => onPick(screen)),
    element('code', { text: ` ${service} ${showValue(input)}` }),
    failure
      ? element('p', { class: 'bad', text: `${failure.code}: ${failure.message}` })
      : element('p', {}, [element('code', { text: `→ ${showValue(output ?? null)}` })]),
  ]);
}

const SHOWN_CHARS = 400;

function showValue(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text;
}
