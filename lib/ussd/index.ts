// What `import … from 'twinline/ussd'` gives: the USSD door without HTTP, its dialects, and the room on a screen.

export { fits, nonGsm7, room, septets, type TextSize } from '../flow/run/render.ts';
export type { Adapter, RawReply, UssdReply } from './adapter.ts';
export { type AdapterName, createAdapters } from './adapters.ts';
export type { UnknownSession } from './dial.ts';
export type { RawRequest, TextMode, UssdRequest } from './request.ts';
export {
  type SessionDebug,
  type UssdService as UssdGateway,
  type UssdServiceOptions as UssdGatewayOptions,
  ussdService as ussdGateway,
} from './service.ts';
