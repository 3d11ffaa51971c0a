// Exports of `twinline/gateway`: HTTP requests to gRPC services, channels to the node, replies as JSON.

export { type BreakerOptions, type GuardedChannel, guardedChannel } from './channel/breaker.ts';
export { type AnswerCache, type CacheOptions, type CacheResult, entityTag, openCache } from './channel/cache.ts';
export type {
  Channel,
  ChannelOptions,
  MessageStream,
  RpcAnswer,
  RpcCall,
  Status,
  StreamCall,
} from './channel/channel.ts';
export { http2Channel } from './channel/http2-channel.ts';
export {
  earlyTrailers,
  HEIGHT,
  type HeadersBack,
  type Metadata,
  toHeaders,
  toMetadata,
  toTrailers,
} from './channel/metadata.ts';
export { type Descriptors, readDescriptorFiles, readDescriptorSet } from './descriptors/descriptors.ts';
export { type Reflected, type ReflectionOptions, reflect } from './descriptors/reflection.ts';
export type { UnknownTypes } from './descriptors/type-source.ts';
export {
  type BuiltType,
  type Lesson,
  learnedTypes,
  type TypeSource,
  type TypeSourceOptions,
  type TypeWaiting,
  typeSource,
} from './descriptors/type-source.ts';
export type { JsonForm } from './json/field.ts';
export { type HttpBody, isHttpBody, readHttpBody } from './json/well-known.ts';
export {
  createJsonWriters,
  type Effort,
  type JsonWriter,
  type JsonWriterOptions,
  type JsonWriters,
} from './json/writer.ts';
export type { Bind, HttpInput } from './request/bind.ts';
export {
  compileRewrites,
  LEGACY_PROFILES,
  type LegacyName,
  type LegacyProfile,
  legacyRewrites,
  type Rewrite,
  type RewriteOptions,
  type RewritePath,
} from './route/rewrites.ts';
export {
  createRouteTable,
  type LeftOut,
  type Match,
  type QueryParameter,
  type Route,
  type RouteRow,
  type RouteTable,
  type RouteTableOptions,
  routeRows,
} from './route/route.ts';
export { type GatewaySettings, parseGatewayFile } from './settings.ts';
export { idlePatterns, type RpcFilter, rpcFilter } from './settings-checks.ts';
export {
  createStatusAnswers,
  type HttpAnswer,
  httpStatus,
  REFUSALS,
  type RefusalName,
  type StatusAnswers,
  type StatusOptions,
  withoutAddresses,
} from './status.ts';
