// A call: asks a service, then goes on by what it answered. The caller sees it only when it takes long.

import type { CallScreen } from '../format/flow.ts';
import { entryTrack, meta, type ScreenKind, transitionsOf } from './screen.ts';

export const call: ScreenKind<CallScreen> = {
  state: (screen, place) => ({
    meta: { ...meta(place, screen), with: screen.with ?? {} },
    ...entryTrack(screen),
    invoke: {
      id: place.path,
      src: screen.service,
      onDone: transitionsOf(place, screen.done, {
        guard: 'answered',
        action: 'receive',
        ...(screen.save !== undefined && { save: screen.save }),
      }),
      onError: transitionsOf(place, screen.fail, { guard: 'failed', action: 'giveUp' }),
    },
  }),
  behaviour: () => ({ listsExit: false, show: () => ({ text: '', rows: [] }) }),
};
