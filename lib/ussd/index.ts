// Exports of `twinline/ussd`: the USSD gateway without HTTP, its dialects, and screen capacity.

export { fits, nonGsm7, room, septets, type TextSize } from '../flow/run/render.ts';
export type { Adapter, AdapterRoute, RawReply, RouteWords, UssdReply } from './adapter.ts';
export { type AdapterName, createAdapters } from './adapters.ts';
export type { UnknownSession } from './dial.ts';
export { readEcho, readFields, salvageFields, type UssdFields } from './fields.ts';
export {
  conEnd,
  echoingReplies,
  escapeXml,
  FORBIDDEN,
  INVALID_INPUT,
  jsonReply,
  NOTHING,
  PLAIN_TYPE,
  TOO_MANY,
  UNAVAILABLE,
  xmlReply,
} from './reply.ts';
export {
  type RawRequest,
  readDialled,
  readFlag,
  readImsi,
  readMsisdn,
  readNetwork,
  readPhoneNumber,
  readServiceCode,
  readSessionId,
  readText,
  refusal,
  type TextMode,
  type UssdRequest,
} from './request.ts';
export {
  type SessionDebug,
  type TurnAbout,
  type UssdService as UssdGateway,
  type UssdServiceOptions as UssdGatewayOptions,
  ussdService as ussdGateway,
} from './service.ts';
