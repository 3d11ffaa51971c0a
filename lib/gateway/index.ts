// What `import … from 'twinline/gateway'` gives: HTTP requests for gRPC services, the way to the node, replies as JSON.

export { type AnswerCache, type CacheOptions, type CacheResult, entityTag, openCache } from './cache/cache.ts';
export { type BreakerOptions, type GuardedChannel, guardedChannel } from './channel/breaker.ts';
export type {
  Answer,
  Call,
  Channel,
  ChannelOptions,
  MessageStream,
  Metadata,
  Status,
  StreamCall,
} from './channel/channel.ts';
export { http2Channel } from './channel/http2-channel.ts';
export { type Descriptors, readDescriptorFiles, readDescriptorSet } from './descriptors/descriptors.ts';
export { type Lesson, learnedTypes } from './descriptors/learned-types.ts';
export { type Reflected, type ReflectionOptions, reflect } from './descriptors/reflection.ts';
export {
  type Made,
  type TypeSource,
  type TypeSourceOptions,
  type TypeWaiting,
  typeSource,
} from './descriptors/type-source.ts';
export type { UnknownTypes } from './descriptors/unknown-types.ts';
export type { JsonForm } from './json/field.ts';
export { type HttpBody, isHttpBody, readHttpBody } from './json/http-body.ts';
export {
  createJsonWriters,
  type Effort,
  type JsonWriter,
  type JsonWriterOptions,
  type JsonWriters,
} from './json/writer.ts';
export type { Bind, HttpInput } from './request/bind.ts';
export { earlyTrailers, HEIGHT, type HeadersBack, headersOf, metadataOf, trailersOf } from './request/forward.ts';
export { LEGACY_PROFILES, type LegacyName, type LegacyProfile, legacyRewrites } from './route/legacy.ts';
export { compileRewrites, type Rewrite, type RewriteOptions, type RewritePath } from './route/rewrite.ts';
export {
  createRouteTable,
  type LeftOut,
  type Match,
  type Route,
  type RouteTable,
  type RouteTableOptions,
} from './route/route.ts';
export { type QueryParameter, type RouteRow, routeRows } from './route/route-list.ts';
export { idlePatterns, type RpcFilter, rpcFilter } from './route/rpc-pattern.ts';
export { type GatewaySettings, parseGatewayFile } from './settings.ts';
export {
  createStatusAnswers,
  type HttpAnswer,
  httpStatus,
  REFUSALS,
  type Refusal,
  type StatusAnswers,
  type StatusOptions,
  withoutAddresses,
} from './status.ts';
