// The table of the telecom dialects that we speak.

import { africasTalking } from './adapters/africastalking.ts';
import { arkesel } from './adapters/arkesel.ts';
import { comviva } from './adapters/comviva.ts';
import { hubtel } from './adapters/hubtel.ts';
import { infobip } from './adapters/infobip.ts';
import { nalo } from './adapters/nalo.ts';
import type { TextMode } from './request.ts';

/**
 * Every adapter by name; `africastalking` is also the plain endpoint. `textMode` is that of the plain endpoint; the other
 * dialects have a fixed one.
 * @example
 * const { hubtel } = createAdapters('cumulative');
 * hubtel.name; // → 'hubtel'
 * hubtel.routes.map(({ method }) => method); // → ['POST']
 */
export function createAdapters(textMode: TextMode) {
  return { africastalking: africasTalking(textMode), hubtel, nalo, arkesel, infobip, comviva } as const;
}

/** The dialects that are shipped. */
export type AdapterName = keyof ReturnType<typeof createAdapters>;
