// What `import … from 'twinline/client'` gives: clients of the agent service and the domain service, for browsers and Node.

export { type AgentClient, agentClient, type ReplyFrame, type ReplyStream, type WholeReply } from './agent.ts';
export type { ApiSchemas, RouteShape, Routes } from './api.ts';
export type { ClientCredential, MakeCredential } from './credential.ts';
export { ConnectionError, type ProblemCode, ProblemError } from './errors.ts';
export type { ListenOptions } from './events.ts';
export type { ClientOptions, RequestParts, Requests, RouteLine } from './requests.ts';
export { type EventOptions, type TwinsClient, twinsClient } from './twins.ts';
