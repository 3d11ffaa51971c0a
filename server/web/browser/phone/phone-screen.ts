// The screen of a phone: what it shows, and how much of its room that takes.

import { room } from '../../../../lib/flow/run/gsm7.ts';
import { element } from '../element.ts';
import type { Phone } from './phone.ts';
import { sentText } from './phone-typed.ts';

/** A part of a drawn phone. */
export interface DevicePart {
  readonly elements: readonly HTMLElement[];
  /** Shows the phone as it is now. */
  show(): void;
}

/** What the parts of one phone are made with. */
export interface PartDeps {
  /** A label of its own for every phone: `Screen, Phone 2`. */
  readonly named: (what: string) => string;
  /** Characters of a cumulative `text` that the server accepts; 0 where it is not cumulative. */
  readonly textChars: number;
}

const UNITS = { gsm7: 'septets · GSM-7', ucs2: 'characters · UCS-2' } as const;

export function screenPart(phone: Phone, { named, textChars }: PartDeps): DevicePart {
  const screen = element('pre', { is: { role: 'status', 'aria-label': named('Screen'), tabindex: 0 } });
  const meter = element('progress', { is: { 'aria-label': named('Room on the screen') } });
  const taken = element('span');
  const sent = element('span');

  function show(): void {
    const { state, busy } = phone;
    const { session } = state;
    const shown = busy ? undefined : session?.screen;
    screen.textContent = busy ? 'USSD code running…' : (shown?.text ?? 'Dial a code.');
    screen.className = `screen ${busy ? 'busy' : (shown?.kind ?? 'idle')}`;
    const { encoding, used, limit } = room(shown === undefined || shown.kind === 'trouble' ? '' : shown.text);
    meter.max = limit;
    meter.value = Math.min(used, limit);
    meter.classList.toggle('over', used > limit);
    taken.textContent = `${used} of ${limit} ${UNITS[encoding]}${shown?.kind === 'end' ? ' · end' : ''}`;
    sent.textContent = textChars > 0 ? `text ${sentText(session?.typed ?? [], 'cumulative').length}/${textChars}` : '';
  }
  return { elements: [screen, meter, element('p', { class: 'count' }, [taken, sent])], show };
}
