// What `import … from 'twinline/gateway'` gives: HTTP requests for gRPC services, the way to the node, replies as JSON.

export { type BreakerOptions, type GuardedChannel, guardedChannel } from './breaker.ts';
export { type AnswerCache, type CacheOptions, type CacheResult, entityTag, openCache } from './cache.ts';
export type { Answer, Call, Channel, ChannelOptions, MessageStream, Metadata, Status, StreamCall } from './channel.ts';
export { type Descriptors, readDescriptorFiles, readDescriptorSet } from './descriptors.ts';
export { earlyTrailers, HEIGHT, type HeadersBack, headersOf, metadataOf, trailersOf } from './forward.ts';
export { type GatewaySettings, parseGatewayFile } from './gateway-file.ts';
export { type HttpBody, isHttpBody, readHttpBody } from './http-body.ts';
export {
  createStatusAnswers,
  type HttpAnswer,
  httpStatus,
  REFUSALS,
  type Refusal,
  type StatusAnswers,
  type StatusOptions,
  withoutAddresses,
} from './http-status.ts';
export { http2Channel } from './http2-channel.ts';
export type { JsonForm } from './json-field.ts';
export {
  createJsonWriters,
  type Effort,
  type JsonWriter,
  type JsonWriterOptions,
  type JsonWriters,
} from './json-writer.ts';
export { type Lesson, learnedTypes } from './learned-types.ts';
export { LEGACY_PROFILES, type LegacyName, type LegacyProfile, legacyRewrites } from './legacy.ts';
export type { Bind, HttpInput } from './query.ts';
export { type Reflected, type ReflectionOptions, reflect } from './reflection.ts';
export { compileRewrites, type Rewrite, type RewriteOptions, type RewritePath } from './rewrite.ts';
export {
  createRouteTable,
  type LeftOut,
  type Match,
  type Route,
  type RouteTable,
  type RouteTableOptions,
} from './route.ts';
export { type QueryParameter, type RouteRow, routeRows } from './route-list.ts';
export { idlePatterns, type RpcFilter, rpcFilter } from './rpc-pattern.ts';
export { type Made, type TypeSource, type TypeSourceOptions, type TypeWaiting, typeSource } from './type-source.ts';
export type { UnknownTypes } from './unknown-types.ts';
