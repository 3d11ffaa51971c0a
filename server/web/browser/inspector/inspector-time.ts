// The line of time: the moments that were kept, one of which is looked at, or the last one as it comes.

import { found } from '../element.ts';
import type { Moment } from './inspector-store.ts';

export interface Timeline {
  show(time: {
    readonly moments: readonly Moment[];
    readonly moment: Moment | undefined;
    readonly isLive: boolean;
  }): void;
}

export interface TimeChoices {
  readonly onGo: (id: string) => void;
  readonly onLive: () => void;
}

export function timeline({ onGo, onLive }: TimeChoices): Timeline {
  const slider = found<HTMLInputElement>('time');
  const pause = found('pause');
  const output = found('moment');
  let shown: readonly Moment[] = [];
  slider.addEventListener('input', () => {
    const at = Number(slider.value);
    const moment = shown[at];
    if (moment) onGo(moment.id);
    else onLive();
  });
  return {
    show({ moments, moment, isLive }) {
      shown = moments;
      const at = moment ? moments.indexOf(moment) : -1;
      slider.max = String(Math.max(0, moments.length - 1));
      slider.value = String(Math.max(0, at));
      slider.disabled = moments.length === 0;
      pause.textContent = isLive ? 'Pause' : 'Go live';
      pause.classList.toggle('live', isLive);
      const words = moment
        ? `${at + 1} of ${moments.length} · ${new Date(moment.at).toTimeString().slice(0, 8)}`
        : moments.length
          ? 'no longer kept'
          : 'nothing yet';
      output.textContent = words;
      slider.setAttribute('aria-valuetext', moment ? `${words}, ${moment.state}` : words);
    },
  };
}
