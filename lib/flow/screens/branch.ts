// A branch: goes on at once by the first condition that holds.

import type { BranchScreen } from '../format/flow.ts';
import { entryTrack, meta, type ScreenKind, transitionsOf } from './screen.ts';

export const branch: ScreenKind<BranchScreen> = {
  state: (screen, place) => ({
    meta: meta(place, screen),
    ...entryTrack(screen),
    always: transitionsOf(place, screen.branch, { guard: 'when', action: 'go' }),
  }),
  behaviour: () => ({ listsExit: false, show: () => ({ text: '', rows: [] }) }),
};
