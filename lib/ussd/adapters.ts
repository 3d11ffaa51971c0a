// The table of supported telecom dialects.

import { africasTalking } from './adapters/africastalking.ts';
import { arkesel } from './adapters/arkesel.ts';
import { comviva } from './adapters/comviva.ts';
import { hubtel } from './adapters/hubtel.ts';
import { infobip } from './adapters/infobip.ts';
import { nalo } from './adapters/nalo.ts';
import type { TextMode } from './request.ts';

/**
 * Every adapter by name; `africastalking` also serves the plain endpoint, and `textMode` applies to it; the mode of the other
 * dialects is fixed.
 * @example
 * const { hubtel } = createAdapters('cumulative');
 * hubtel.name; // → 'hubtel'
 * hubtel.routes.map(({ method }) => method); // → ['POST']
 */
export function createAdapters(textMode: TextMode) {
  return { africastalking: africasTalking(textMode), hubtel, nalo, arkesel, infobip, comviva } as const;
}

/** The names of the shipped dialects. */
export type AdapterName = keyof ReturnType<typeof createAdapters>;
